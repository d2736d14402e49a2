/* timeline_files.h: the timelines of files; timeline_open chooses one. */
#ifndef VITALS_RECORD_REPLAY_TIMELINE_FILES_H
#define VITALS_RECORD_REPLAY_TIMELINE_FILES_H

#include "record/replay/timeline.h"

int timeline_database_open(const char *path, struct timeline *out, vitals_error *error);
int timeline_json_open(const char *path, struct timeline *out, vitals_error *error);

#endif
