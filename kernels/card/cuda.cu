/* cuda.cu - a CUDA device as a machine: opening and the plan. One thread drives it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "card/cuda_guests.cuh"
#include "card/cuda_memory.cuh"
#include "card/cuda_precision.cuh"
#include "card/cuda_routine.cuh"

extern "C" {
#include "base/fault.h"
#include "base/mem.h"
#include "base/text.h"
}

enum { CUDA_VERSION_OF_CODE = 4 };

/* --- opening --- */

/* Seconds without an answer after which the device hangs. A test sets less. */
static double patience(void)
{
    const char *word = fault_setting("PATIENCE");
    double seconds;
    return word && text_to_double(word, &seconds) && seconds > 0 ? seconds : MACHINE_PATIENCE;
}

static void cuda_close(struct machine *machine);

/* Reports a failure as an error of opening. */
static struct machine *give_up(struct card *m, struct err *e)
{
    *e = m->head.failure;
    cuda_close(&m->head);
    return NULL;
}

static struct machine *cuda_open(const struct machine_options *o, struct err *e)
{
    struct card *m = (struct card *)mem_zero(1, sizeof *m);
    m->head.type = &machine_cuda; /* for a failure before it is open */
    m->runtime = cuda_runtime_open(patience());
    if (!cuda_device_open(m->runtime, &m->device, o->device, &m->stream, e)) {
        cuda_runtime_close(m->runtime);
        mem_free(m);
        return NULL;
    }
    cuda_precision(m, o->precision);
    m->guests = o->guests;
    m->memory.limit = machine_limit(o, m->device.total);
    m->longest = m->patience = patience();
    const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
    m->one_by_one = m->no_graphs = blocking && strcmp(blocking, "1") == 0;
    bool good = CUDA(m, EventCreateWithFlags, (&m->issued, cudaEventDisableTiming));
    for (unsigned i = 0; i < MACHINE_SLOTS && good; i++)
        good = slot_open(m, &m->slots[i]);
    if (good)
        cuda_wgmma_begin(m, o->precision);
    if (good)
        cuda_guest_begin(m);
    if (good)
        cuda_recur_begin(m);
    good = good && !cuda_lost(m);
    return good ? &m->head : give_up(m, e);
}

static void cuda_close(struct machine *machine)
{
    struct card *m = card_of(machine);
    cuda_expect(machine, m->longest);
    cuda_recur_end(m);
    cuda_guest_end(m);
    for (unsigned i = 0; i < MACHINE_SLOTS; i++)
        slot_close(m, &m->slots[i]);
    cuda_memory_close(m);
    if (!cuda_gone(m)) {
        for (uint32_t i = 0; m->marks && i < MACHINE_MARKS; i++)
            if (m->marks[i])
                call_EventDestroy(m->runtime, m->marks[i]);
        if (m->issued)
            call_EventDestroy(m->runtime, m->issued);
        call_StreamDestroy(m->runtime, m->stream);
    }
    cuda_runtime_close(m->runtime);
    mem_free(m->marks);
    mem_free(m);
}

static void cuda_describe(const struct machine *machine, struct machine_info *to)
{
    const struct card *m = card_of(machine);
    snprintf(to->device, sizeof to->device, "%s", m->device.name);
    snprintf(to->driver, sizeof to->driver, "%s", m->device.driver);
    snprintf(to->uuid, sizeof to->uuid, "%s", m->device.uuid);
    snprintf(to->precision, sizeof to->precision, "%s", cuda_precision_name(m));
    snprintf(to->precision_why, sizeof to->precision_why, "%s", m->precision_why);
    int runtime = 0;
    if (!cuda_gone(m) && call_RuntimeGetVersion(m->runtime, &runtime) == cudaSuccess)
        snprintf(to->runtime, sizeof to->runtime, "CUDA %d.%d", runtime / 1000,
                 runtime % 1000 / 10);
    to->index = (uint32_t)m->device.index;
    to->count = (uint32_t)m->device.count;
    to->total = m->device.total;
    to->allocated = m->memory.allocated;
    to->peak = m->memory.peak;
    memcpy(to->peak_of, m->memory.peak_of, sizeof to->peak_of);
    to->free = cuda_gone(m) ? 0 : cuda_device_free(m->runtime);
}

static void cuda_plan(const struct machine *machine, uint32_t, uint32_t, struct plan *plan)
{
    const struct card *m = card_of(machine);
    snprintf(plan->core, sizeof plan->core, "%s", m->device.core);
    snprintf(plan->blas, sizeof plan->blas, "none");
    snprintf(plan->blas_core, sizeof plan->blas_core, "none");
    snprintf(plan->precision, sizeof plan->precision, "%s", cuda_precision_name(m));
    plan->version = CUDA_VERSION_OF_CODE;
    cuda_guest_plan(m, plan);
    cuda_recur_plan(m, plan);
    cuda_wgmma_plan(m, plan);
}

static void cuda_set_plan(struct machine *m, const struct plan *plan)
{
    cuda_precision_set(card_of(m), plan->precision);
    cuda_wgmma_set_plan(card_of(m), plan);
    cuda_guest_set_plan(card_of(m), plan);
    cuda_recur_set_plan(card_of(m), plan);
}

static void cuda_work(struct machine *m, const struct machine_work *work)
{
    cuda_guest_work(card_of(m), work);
}

extern "C" const struct machine_type machine_cuda = {
    "cuda",          cuda_open,     cuda_close,    cuda_alloc,        cuda_release,
    cuda_host_alloc, cuda_host_release, cuda_map_host, cuda_unmap_host, cuda_bytes_free,
    cuda_upload,     cuda_download, cuda_act_download, cuda_fence,    cuda_wait,
    cuda_issue,      cuda_record,   cuda_stop,     cuda_play,         cuda_drop,
    cuda_need,       cuda_plan,     cuda_set_plan, cuda_act_bytes,    cuda_shadow_bytes,
    cuda_refresh,    cuda_shadow_of, cuda_act_form, cuda_rounds,  cuda_describe,
    cuda_expect,
    NULL,            NULL,          cuda_reserve_bytes, cuda_mark,    cuda_marked,
    cuda_join,       false,         cuda_path,     cuda_work,
};
