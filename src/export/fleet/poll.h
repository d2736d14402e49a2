/* poll.h: the exporter as a client of many `vitals serve`, or of a Prometheus, for `vitals top`.
 *
 * Its member of the first line (wire.h) is
 *
 *     "fleet": {"hosts": ["http://node01:9847", …], "path": "/api/v1/snapshot",
 *               "query": "PromQL", "most_bytes": 1048576, "interval_seconds": 1,
 *               "timeout_seconds": 2, "netrc": "/path", "ca_file": "/path"}
 *
 * An interval of 0: each is asked once. A query is posted as a form has it.
 *
 * Each answer is written as a line to the descriptor LINK_ACTIVATION_SOCKET (link.h): the place of
 * the machine in the list, the time (monotonic, nanoseconds), and its text, of which only line
 * breaks were taken out; or the state of the machine (fleet/fleet.h) and why there is no answer.
 *
 *     0 28338459615380 answer {"schema":1,…}
 *     1 28338459615380 silent could not connect to node02:9847
 *     2 28338459615380 login a login is missing or wrong
 *     3 28338459615380 other it is no vitals serve (404)
 *     4 28338459615380 oversized its answer is above 1 MiB: run vitals there, or press Enter */
#pragma once

enum {
    POLL_ANSWER_MAX = 1024 * 1024,     /* bytes of a document */
    POLL_QUERY_MAX = 16 * 1024 * 1024, /* of the answer to a query */
    POLL_LINE_MORE = 64,               /* bytes of a line beside the document */
    POLL_ROOM = 64 * 1024 * 1024       /* of all documents that are on their way */
};
