/* select_cuda.h: asks CUDA how it counts devices, in a process of its own: CUDA reads
 * CUDA_VISIBLE_DEVICES, keeps threads, and may hang. */
#ifndef VITALS_COMMAND_DEVICES_SELECT_CUDA_H
#define VITALS_COMMAND_DEVICES_SELECT_CUDA_H

#include <stdbool.h>
#include <stddef.h>

/* All its devices, as vitals_cuda_enumerate writes them. False: there is no CUDA, or it does not
 * answer in ten seconds. The process is left to itself: then it is killed, by its own alarm. */
bool select_ask_cuda(char *out, size_t capacity);

#endif
