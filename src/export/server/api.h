/* api.h: the routes that return data, for programs and for the web page. */
#ifndef VITALS_EXPORT_SERVER_API_H
#define VITALS_EXPORT_SERVER_API_H

#include "export/server/route.h"

/* The newest sample in the form of `vitals --json`. */
route_function api_snapshot;

/* The last hour (history.h). */
route_function api_history;

/* Each new sample as a server-sent event: the document of `vitals --json`, or with ?view=page the
 * part that the page needs (view.h). With &processes=all every process is sampled while a client
 * listens: they are in the page's tables, or follow each document as an event `processes` of their
 * own. 403 if processes are not exported. */
route_function api_stream;

#endif
