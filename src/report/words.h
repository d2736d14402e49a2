/* words.h: figures in words: the number in a unit that reads well or that was asked for, and how it
 * was got. Pure. */
#pragma once

#include "report/account.h"

enum { WORDS = 256 };

/* "12.3 s", "41.20GiB", "83 %", "3.07 cores", "0.70 kWh", "214". The name tells whether it is GPU
 * memory. Returns `out`. */
char *words_value(const struct account_view *view, const char *name, const char *unit, double value,
                  char out[static WORDS]);

/* "0.042 s", "12.3 s", "3 min 7 s", "2 h 41 min". */
char *words_seconds(double seconds, char out[static WORDS]);

/* "exact", "sampled", "at least" …; "not available". */
const char *words_quality(vitals_availability availability);

/* "exact, cgroup v2"; of a figure without a value why. "" of NULL. */
char *words_how(const vitals_figure *figure, char out[static WORDS]);

/* How good a figure is, or why it is missing; of NULL: not requested. */
vitals_availability words_availability(const vitals_figure *figure);

/* A figure's value, or 0 and why not. */
double words_number(const vitals_figure *figure, vitals_availability *availability);

/* The figure of a statistic ("peak", "mean", "min") of a measure, or NULL. Its name is as in
 * account.h: memory_resident_peak_bytes, threads_peak. */
const vitals_figure *words_find(const vitals_account *account, const char *measure,
                                const char *statistic, const char *subject);

bool words_are(vitals_text text, const char *word);

/* An attribute that is a positive number; 0 if it is none. */
double words_attribute_number(const vitals_account *account, const char *name);

/* True for the subject of a figure or series of one device. */
bool words_is_device(const char *subject);

/* True if the account is of a machine alone, without a run. */
bool words_is_machine(const vitals_account *account);

/* The part of the wall time in which at least one task waited, by a figure of pressure; 0 if it is
 * not known. From WORDS_MUCH on it is worth a sentence. */
#define WORDS_MUCH 0.1
double words_waited(const vitals_account *account, const char *pressure, const char *subject);

/* In words, or "N/A". */
char *words_figure(const struct account_view *view, const vitals_figure *figure,
                   char out[static WORDS]);
