/* counted.h: where what was counted is told. See os/counted.h. */
#ifndef VITALS_RUN_COUNTED_H
#define VITALS_RUN_COUNTED_H

#include "os/counted.h"

#endif
