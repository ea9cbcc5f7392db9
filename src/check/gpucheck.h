/* gpucheck.h - tests that this machine can train on its GPU, and computes right. The checks of `dnn
 * gpucheck` in their order, each with a measurement, the threshold, a reason and a mend; one
 * verdict. Nothing of a GPU is opened if the command line or the environment asks for the CPU. */
#ifndef DNN_CHECK_GPUCHECK_H
#define DNN_CHECK_GPUCHECK_H

#include "config/config.h"

enum gpu_status { GPU_PASS, GPU_WARN, GPU_FAIL, GPU_SKIP };
enum gpu_verdict { GPU_READY, GPU_NONE, GPU_BUSY, GPU_FAULTY, GPU_EMULATED };
enum gpu_level { GPU_QUICK, GPU_FULL, GPU_SOAK };

struct gpu_check {
    char id[32];
    enum gpu_status status;
    enum gpu_verdict verdict; /* the verdict after a failure: none, busy or faulty */
    char measured[128], threshold[128]; /* "": not known */
    char reason[640], fix[640];
};
struct gpu_device {
    char id[16], name[64], uuid[48], capability[16]; /* "": not known */
    uint64_t total, used, free;                      /* bytes */
};
struct gpu_versions {
    char driver[48], runtime[32], cudnn[32], cublas[32], nccl[32]; /* "": none */
};
enum { GPU_CHECKS = 96, GPU_DEVICES = 16 };
enum { GPU_INDICES = 64 };
/* The cards that were checked before, for --format spark. */
struct gpu_cards {
    unsigned ready[GPU_INDICES], count; /* indices */
    int worst;                          /* exit code of the last busy or faulty card, else 0 */
};
struct gpucheck {
    struct gpu_check checks[GPU_CHECKS];
    unsigned count;
    unsigned at_hand; /* the check that was begun last; count 0: none was */
    struct gpu_device devices[GPU_DEVICES]; /* cards that the driver shows */
    unsigned device_count;
    struct gpu_versions versions;
    enum gpu_verdict verdict;
    unsigned visible; /* number of cards that CUDA sees */
    unsigned index;   /* of the checked card */
    unsigned rounds;
    struct gpu_cards *cards; /* the options' cards */
    struct gpu_job *_Atomic job; /* at work; NULL: none */
};
struct gpucheck_options {
    enum gpu_level level;
    double minutes;           /* of soak */
    struct overrides command; /* --backend, --device, --threads */
    struct gpu_cards *cards;  /* NULL: one card is checked */
};
/* False: the check itself could not be made, for want of a folder or memory, or it was stopped (e
 * says why). Faults of the GPU are in g. */
bool gpucheck_run(const struct gpucheck_options *o, struct gpucheck *g, struct err *e);
/* Called on another thread while the one of gpucheck_run never comes back: the check at hand is
 * faulty in g, and nothing is left in TMPDIR. False: gpucheck_run is not at work. */
bool gpucheck_stuck(struct gpucheck *g, const struct err *why);
int gpucheck_exit(const struct gpucheck *g); /* 0 ready, 69 none or emulated, 75 busy, 81 faulty */

/* The first required check that failed; NULL: none. */
const struct gpu_check *gpucheck_failure(const struct gpucheck *g);

/* Devices and driver version from NVML alone, into g; why: the reason it does not answer, or "". */
void gpucheck_shown(struct gpucheck *g, char *why, size_t room);

void gpucheck_text(const struct gpucheck *g, struct text *out);
void gpucheck_devices_json(const struct gpucheck *g, struct json_out *out); /* "devices":[DEVICE] */
void gpucheck_json(const struct gpucheck *g, struct json_out *out); /* dnn.gpucheck/1 */
void gpucheck_prom(const struct gpucheck *g, int code, struct text *out); /* that it ends with */
/* Spark's resource discovery: the indices of the `count` GPUs that are ready. */
void gpucheck_spark(const unsigned *ready, unsigned count, struct text *out);

#endif
