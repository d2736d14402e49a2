/* api.h: the routes that give data, for programs and for the page. */
#ifndef VITALS_EXPORT_SERVER_API_H
#define VITALS_EXPORT_SERVER_API_H

#include "export/server/route.h"

/* The newest sample, as vitals --json prints it. */
route_function api_snapshot;

/* The last hour (history.h). */
route_function api_history;

/* Every sample as it comes, as server-sent events: the same document, or with ?view=page what the
 * page needs of it (view.h). With &processes=all every process is asked for while somebody listens:
 * it stands in the page's tables, and comes beside the other documents as an event of its own,
 * `processes`. 403 where nothing is told of processes. */
route_function api_stream;

#endif
