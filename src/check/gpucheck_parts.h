/* gpucheck_parts.h - shared by the files of gpucheck. Private to gpucheck*.c. */
#ifndef DNN_CHECK_GPUCHECK_PARTS_H
#define DNN_CHECK_GPUCHECK_PARTS_H

#include "backend/backend.h"
#include "backend/card.h"
#include "backend/nvml.h"
#include "check/gpucheck.h"

/* --- the record: gpucheck_record.c --- */

/* The check of that name, new or cleared for another round. Statuses other than PASS follow. */
struct gpu_check *gpucheck_add(struct gpucheck *g, const char *id);
#define GPU_PRINTF __attribute__((format(printf, 2, 3)))
void gpucheck_measured(struct gpu_check *c, const char *format, ...) GPU_PRINTF;
void gpucheck_threshold(struct gpu_check *c, const char *format, ...) GPU_PRINTF;
void gpucheck_reason(struct gpu_check *c, const char *format, ...) GPU_PRINTF;
void gpucheck_fix(struct gpu_check *c, const char *format, ...) GPU_PRINTF;
void gpucheck_fail(struct gpu_check *c, enum gpu_verdict verdict);
/* The card computes wrong, or has errors. The reason, and its mend. */
void gpucheck_faulty(struct gpu_check *c, const char *mend, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define GPU_REPORT "report it with the output of `dnn gpucheck --level full --json`"
/* A failure of the GPU becomes the check's, with its exit code as verdict, and true is returned.
 * Any other is the caller's to return: false. */
bool gpucheck_blame(struct gpu_check *c, const struct err *e);
bool gpucheck_good(const struct gpucheck *g); /* no required check has failed */
/* Records that a check was not made; nothing if the record has that check. */
void gpucheck_skip(struct gpucheck *g, const char *id, const char *needs);

/* --- the host, looked at without a driver: gpucheck_host.c --- */

struct gpu_host {
    bool container, wsl;
    char amd[32];               /* a GPU of AMD's: "/dev/kfd, gfx942"; "": none */
    bool bus_known, on_bus;     /* an NVIDIA device on the PCI bus */
    char bus_driver[32];        /* the kernel module that has it: nvidia, nouveau, vfio-pci */
    char module[32];            /* version of the kernel's nvidia module */
    unsigned nodes;             /* /dev/nvidia0.. */
    bool uvm;                   /* /dev/nvidia-uvm */
    char denied[32];            /* the first device file that may not be opened */
    char visible[128];          /* CUDA_VISIBLE_DEVICES, quoted */
    bool is_visible_set, hides; /* hides: it shows no device at all */
};
void gpucheck_host(struct gpu_host *h);

/* --- the driver's libraries: gpucheck_host.c --- */

struct gpu_libraries {
    bool cuda, nvml; /* they load and answer */
    int cuda_version;   /* 12040 */
    char cuda_why[160], nvml_why[160]; /* why not */
    char driver[48];    /* "550.54.14", of NVML */
    unsigned cards;     /* of the machine, as NVML counts */
    struct nvml_card card; /* with the uuid that was asked for, else the first */
};
/* Loads libcuda.so.1 and asks its version alone: nothing is initialised. */
void gpucheck_cuda_library(struct gpu_libraries *l);
/* Asks NVML, and fills g's devices and driver version. uuid NULL: the first card. */
void gpucheck_nvml(struct gpu_libraries *l, struct gpucheck *g, const char *uuid);
/* The versions of cuBLASLt, cuDNN and NCCL, and why each of the others cannot serve. False if one
 * of them can. */
bool gpucheck_other_libraries(struct gpucheck *g, char *why_not, size_t room);

/* --- against the table of cards: gpucheck_health.c --- */

#define GPU_SHARE 0.5 /* the least share of its row in card.h that a sound card reaches: clocks
                       * differ */
/* Operations and bytes a second; 0: not measured. */
struct gpu_rates { double fp32, half, memory; };
/* Adds ", fp32 56 TFLOP/s, .." to both texts. Returns the first that is slow, NULL when none is. */
const char *gpucheck_slow(const struct card_figures *card, const struct gpu_rates *r,
                          struct text *measured, struct text *wanted);
/* "the H200", for a sentence. */
struct gpu_kind { char text[64]; };
struct gpu_kind gpucheck_kind(const struct card_figures *card);

/* --- checks --- */

struct gpu_job {
    const struct gpucheck_options *o;
    struct gpucheck *g;
    struct gpu_host host;
    struct gpu_libraries libraries;
    const char *disabled;        /* the option or variable that asks for the CPU; NULL: none */
    const char *other_kind;      /* GPU_BACKEND, if this program lacks that kind; else NULL */
    struct backend_options backend;
    struct machine *machine;     /* NULL: refused */
    struct machine_info info;
    struct plan plan;
    struct card_figures card;
    struct err refused;
    bool emulated;
    struct lesson *_Atomic lesson; /* the trainings at work; NULL: none */
};
/* The checks driver, nvml, device, runtime, libraries, architecture, context. */
void gpucheck_look(struct gpu_job *j);
/* Checks by computing; each stops at the first failure. False with e as gpucheck_run. */
bool gpucheck_memory(struct gpu_job *j, struct err *e);   /* alloc, copy */
bool gpucheck_kernels(struct gpu_job *j, struct err *e);  /* kernel.<op> */
bool gpucheck_gradient(struct gpu_job *j, struct err *e); /* gradient */
bool gpucheck_learn(struct gpu_job *j, struct err *e);    /* train, portable, repeat */
void gpucheck_health(struct gpu_job *j);                  /* health */
/* Deletes the folder of the trainings, if there is one: they stand still, and never continue. */
void gpucheck_learn_drop(struct gpu_job *j);
struct opcase;
/* The worst difference of a case between the two machines; *where names the value that differs.
 * Negative: no memory for it. exact: a dense operation computes as in predictions. */
double gpucheck_case(const struct opcase *c, struct machine *gpu, struct machine *cpu, bool exact,
                     const char **where, struct err *e);
/* Large products in every precision that the card has, for the check of dense and dense_back. */
void gpucheck_precision(struct gpu_job *j, struct gpu_check *c, enum op_id op,
                        struct machine *cpu);

#endif
