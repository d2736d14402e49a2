/* units.h: sizes and durations as people write them. vitals_metric_format (catalogue.h) writes a
 * number of any metric.
 *
 * The functions here are pure: any thread, independent of the locale. */
#ifndef VITALS_UNITS_H
#define VITALS_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include <vitals/export.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { VITALS_HUMAN = 32 };

/* Writes a size for people: "512B", "12KiB", "28.45MiB", "213.4MiB", "8000MiB", "40.00GiB",
 * "141.0GiB": the forms that readers of nvitop know. Bytes below 1 KiB, whole KiB below 1 MiB, MiB
 * below 20 GiB, GiB below 1000 GiB, then TiB and PiB, rounded to the nearest (a half to even).
 * Writes into `out` (at least VITALS_HUMAN bytes), NUL-terminated, and returns it. */
VITALS_API char *vitals_human_bytes(uint64_t bytes, char *out);

/* Writes a duration for people: "0:07", "1:10:56", "4.2 days". Writes into `out` (at least
 * VITALS_HUMAN bytes), NUL-terminated, and returns it. */
VITALS_API char *vitals_human_duration(double seconds, char *out);

/* Parses a size in bytes: digits, and a unit in any case, perhaps behind a space: "500", "500 B",
 * "10k" (1000), "1.5GiB", up to "p". A fraction needs a unit above B, and what is left of a byte is
 * cut off. No sign but "+", no exponent, and no space around it. Returns 0 or VITALS_EARGUMENT
 * (also from 2^64 on). */
VITALS_API VITALS_CHECKED int vitals_parse_bytes(const char *string, uint64_t *out);

/* Parses a duration into seconds: digits, with a fraction or without, and a unit in any case (ns us
 * ms s sec m min h d), perhaps behind a space: "2", "0.5s", "100 ms", "1h". No sign but "+", no
 * exponent, and no space around it. Returns 0 or VITALS_EARGUMENT. */
VITALS_API VITALS_CHECKED int vitals_parse_duration(const char *string, double *seconds);

#ifdef __cplusplus
}
#endif

#endif
