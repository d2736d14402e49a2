/*
 * variant.h - the driver generations that the library is built for.
 *
 * A shared library cannot drop exports at run time, so an old driver is a library of its own:
 * calls.c is compiled once a variant with -DSIMULATED_DRIVER=DRIVER_R470, and SINCE_<first column
 * of calls.def>(...) keeps or drops an entry point. Everything else is the same object code.
 */
#ifndef SIMULATED_VARIANT_H
#define SIMULATED_VARIANT_H

#define DRIVER_R390    390012 /* process lists without suffix, no MIG, no versioned structs */
#define DRIVER_R470    470057 /* _v2 process lists, MIG, several fans */
#define DRIVER_R535_54 535054 /* _v3 process lists with 32 bytes an entry; memory v2 */
#define DRIVER_R535    535104 /* _v3 with 24 bytes again, and the detail list in their stead */
#define DRIVER_R550    550054 /* utilization of all processes with JPEG and optical flow */
#define DRIVER_R580    580065 /* versioned temperature, fan speed, driver model */

/* What a variant says of itself where the scenario does not. Defined in calls.c. */
struct variant {
    int number;
    const char *name, *driver_version, *nvml_version;
    int cuda_version;
};
extern const struct variant simulated_variant;

#endif
