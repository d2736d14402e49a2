/* arranging.h: the keys that arrange the list and the panels: sorts, groups, what is hidden, the
 * layout. */
#ifndef VITALS_MONITOR_LIST_ARRANGING_H
#define VITALS_MONITOR_LIST_ARRANGING_H

#include "monitor/screens/screen.h"

/* Keys behind the one that hides and shows, as the help and the last row name them. */
#define ARRANGING_PANELS "d devices, h host, g graphs, t disks and networks"

/* Acts on such a key; returns false if it is none of them. Some only give the next key its
 * meaning. */
bool arranging_act(struct monitor *monitor, enum action action, int argument);
void arranging_press(struct monitor *monitor, uint32_t code);

/* Actions about a process while the line of a group is selected; returns true if done. */
bool arranging_on_group(struct monitor *monitor, enum action action);

/* Sorts by a column alone, or also by it behind the sorts that there are. */
void monitor_sort(struct monitor *monitor, unsigned sort, bool reversed, bool behind);

/* The text of the last row while a next key or a search or filter is being entered. */
const char *arranging_words(char prefix);

/* Says where words mean a field that there is none of. */
void arranging_check(struct monitor *monitor, const char *words);

void arranging_prompt(const struct monitor *monitor, char *out, size_t capacity);

#endif
