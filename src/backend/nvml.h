/* nvml.h - reads the state of all cards through NVML, the driver's management library (a guest). It
 * opens no context and ignores CUDA_VISIBLE_DEVICES: cards are matched by UUID. extern "C" clean.
 */
#ifndef DNN_BACKEND_NVML_H
#define DNN_BACKEND_NVML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nvml;
struct nvml_card {
    char name[64], uuid[48], capability[16]; /* "9.0"; "": not known */
    uint64_t total, used, free;              /* bytes; 0 all: not known */
    int compute_mode;                        /* 0 default, 2 prohibited, 3 one process; -1 */
    bool mig;                                /* cut into slices */
    char holders[96];                        /* pids of processes on it */
    int64_t ecc;                             /* uncorrected errors since the driver was loaded */
    int64_t throttle, celsius;               /* bits of clock reasons; -1: not known */
};
/* NULL, with the reason in `why`, if it is missing or does not answer. */
struct nvml *nvml_open(char *why, size_t room);
void nvml_close(struct nvml *n); /* NULL does nothing */
unsigned nvml_count(const struct nvml *n); /* cards of the machine */
void nvml_driver(const struct nvml *n, char *to, size_t room); /* "550.54.14", "" */
/* False: no such card. */
bool nvml_card_at(const struct nvml *n, unsigned index, struct nvml_card *card);
/* As above, for the card with that UUID. */
bool nvml_card_of(const struct nvml *n, const char *uuid, struct nvml_card *card);
/* True: no program may use it, or only one, which already does. */
bool nvml_taken(const struct nvml_card *card);

#ifdef __cplusplus
}
#endif

#endif
