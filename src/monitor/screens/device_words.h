/* device_words.h: a number of a device with its unit, as much of it as a person wants to see. Pure.
 */
#ifndef VITALS_MONITOR_SCREENS_DEVICE_WORDS_H
#define VITALS_MONITOR_SCREENS_DEVICE_WORDS_H

#include "view/cell_text.h"

/* "28.45GiB", "41°C", "1980 MHz", "2.2 kWh": by the metric's unit. Gives out. */
char *unit_words(vitals_metric metric, double number, bool ascii, char out[static WORDS]);

#endif
