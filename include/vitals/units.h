/* units.h: numbers for people. The only place where percent, MiB and h:mm:ss exist.
 *
 * Each function writes into `out` (at least VITALS_HUMAN bytes), NUL-terminated, and returns it. */
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
 * "141.0GiB": the forms that readers of nvitop know. */
VITALS_API char *vitals_human_bytes(uint64_t bytes, char *out);

/* Writes a duration for people: "0:07", "1:10:56", "4.2 days". */
VITALS_API char *vitals_human_duration(double seconds, char *out);

/* Parses a size: "500", "500B", "10k" (1000), "1.5GiB", any case. Returns 0 or VITALS_EARGUMENT. */
VITALS_API VITALS_CHECKED int vitals_parse_bytes(const char *string, uint64_t *out);

/* Parses a duration into seconds: "2", "0.5s", "100ms", "2min", "1h". Finite and not negative.
 * Returns 0 or VITALS_EARGUMENT. */
VITALS_API VITALS_CHECKED int vitals_parse_duration(const char *string, double *seconds);

#ifdef __cplusplus
}
#endif

#endif
