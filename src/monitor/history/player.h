/* player.h: moving through the past: by keys, by playing on, and back to now.
 *
 * The end of a recording, which moves while it grows, stands for now. The past of a live monitor is
 * what live_history.h kept; the model takes in what comes meanwhile, so that it is current on the
 * way back. Nothing here waits: due work is done when the loop asks. One thread. */
#pragma once

#include "monitor/history/timeline_cursor.h"
#include "monitor/keys.h"

struct player {
    struct timeline_cursor cursor;
    struct model *model;
    const vitals_clock *clock;
    bool file; /* a recording */

    bool playing;
    unsigned speed;                     /* 2^speed times as fast */
    uint64_t begun_ns, begun_moment_ns; /* playing counts from these: monotonic, realtime */
    vitals_snapshot *ahead;             /* the next one, not due yet */
    bool at_end;                        /* there was no next one, when it was asked last */
    uint64_t asked_ns;                  /* when that was */
    struct timeline_span span;          /* as of `spanned_ns` */
    uint64_t spanned_ns;
    uint64_t marked_ns, marked_moment_ns; /* the mark that was gone to last, and where that led */
    struct timeline_reader *fills;        /* graphs are being filled from it … */
    bool fills_model;                     /* those of the model too, not of screens alone */
    vitals_snapshot *filled; /* … back to this one; NULL: all that is seen is right */
    int64_t filled_place;    /* where that lies in its timeline */
    size_t told;             /* bytes of the timeline's problem that were told */
};

/* The past of a model. The timelines are taken over. `model` and `clock` must live on. */
void player_init(struct player *player, struct model *model, const vitals_clock *clock,
                 struct timeline_cursor cursor, bool file);
void player_done(struct player *player);

/* A recording from its begin, or from a moment as people write it ("12:03"; "-5min": before its
 * end; NULL), on. Errors: EGONE (no snapshot), EARGUMENT (not a time), those of the
 * timeline. */
int player_begin(struct player *player, const char *at, bool playing, vitals_error *error);

/* Acts on a key of time; returns false if it is none. The result is the model's message. */
bool player_act(struct player *player, enum action action, int argument);

/* Goes to a moment as people write it. False: it is none, and nothing has changed. */
bool player_go(struct player *player, const char *moment);

/* Goes to the first reading that is not before a time. */
void player_show(struct player *player, uint64_t realtime_ns);

/* The reading of the machine that was kept before the one at *place, of which it is then (below 0:
 * the newest); yours to unref. 1; 0: there is none; negative: VITALS_E…. What is shown stays. */
int player_before(struct player *player, int64_t *place, vitals_snapshot **out);

/* Shows what is due by now. True: something has changed. */
bool player_turn(struct player *player);

/* Until player_turn has something to do; UINT64_MAX: never by itself. */
uint64_t player_patience_ns(const struct player *player);

/* A screen was opened that has graphs of its own. */
void player_fill_anew(struct player *player);

/* Fills graphs from what was before, at most so many snapshots, nor for long. `each` (may be NULL)
 * gets the model as it was at each of them. True: there is more to do. */
bool player_fill(struct player *player, int most,
                 void (*each)(void *data, const struct model *then), void *data);

/* The row that says where one is, and the keys of a screen (its bit) that move; false: at now,
 * there is none. Of a live monitor in parts, the last of which may be left out. */
enum { PLAYER_WORDS = 400 };
bool player_words(const struct player *player, bool ascii, unsigned screen,
                  char out[static PLAYER_WORDS]);
