/* screen.h: the screen of many machines: draws it, and changes it by the keys of the monitor. Knows
 * no terminal, so that it can be printed and tested. One thread. */
#pragma once

#include "fleet/table.h"
#include "monitor/input_event.h"

enum { FLEET_FILTER = 96, FLEET_MESSAGE = 120 };

struct fleet_screen {
    struct fleet *fleet;
    struct look look;
    struct fleet_table table;
    struct fleet_order order, first; /* now, and as it began */
    char filter[FLEET_FILTER];       /* of the order */
    char message[FLEET_MESSAGE];     /* in the last row until the next key; "" */
    size_t selected, top;            /* rows of the table */
    int width, height;
    bool editing, sorting, help, quit;
    bool opened; /* the selected machine is to be opened */
};

/* Errors: EMEMORY. */
int fleet_screen_init(struct fleet_screen *screen, struct fleet *fleet, const struct look *look,
                      const struct fleet_order *order);
void fleet_screen_done(struct fleet_screen *screen);

/* Takes the newest answers, or those from when the fleet was held. Errors: EMEMORY. */
int fleet_screen_update(struct fleet_screen *screen);

void fleet_screen_input(struct fleet_screen *screen, const struct input_event *event);
void fleet_screen_draw(struct fleet_screen *screen, struct canvas *canvas, uint64_t now_ns);

/* The machine of the selected row, or NULL. */
const struct fleet_host *fleet_screen_host(const struct fleet_screen *screen);

/* ---- on a terminal: live.c ---- */

struct fleet_live {
    struct fleet_link *link;
    struct fleet *fleet;
    struct look look;
    struct fleet_order order;
    const char *term;
    bool ssh;           /* the port of a name is that of ssh, not of a server */
    uint64_t forget_ns; /* figures older than that are not shown */
    int interrupts;     /* a descriptor that ends it once it can be read; -1: none */
};

/* Shows it until a person leaves it. Errors: EUNSUPPORTED (built without ncurses, or the terminal
 * cannot), EGONE (the process that asks has ended), EMEMORY. */
int fleet_live_run(const struct fleet_live *live, vitals_error *error);
