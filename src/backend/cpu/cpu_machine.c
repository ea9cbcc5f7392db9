/* cpu_machine.c - the CPU as a machine: memory, transfers, plan. Its memory is the host's, and all
 * work is done when a call returns: fences and waits do nothing. */
#include <stdio.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "base/process/hostmem.h"
#include "base/mem.h"

static struct cpu *cpu_of(struct machine *m)
{
    return (struct cpu *)m;
}

static struct machine *cpu_open(const struct machine_options *o, struct err *e)
{
    const struct vec *vec = vec_choose();
    if (!vec) {
        err_set(e, ERR_BACKEND_UNKNOWN, "this processor does not run that vector code");
        return NULL;
    }
    struct cpu *m = mem_zero(1, sizeof *m);
    m->vec = vec;
    m->bf16 = o->precision && strcmp(o->precision, "bf16") == 0 ? bf16_choose() : NULL;
    m->guest = m->blas = o->blas ? blas_guest() : NULL;
    m->plain = cpu_routine_new(m);
    cpu_reserve(m, 0);
    return &m->head;
}

static void cpu_close(struct machine *m)
{
    struct cpu *cpu = cpu_of(m);
    cpu_routine_free(cpu->plain);
    cpu_routine_free(cpu->recorded);
    for (unsigned i = 0; i < cpu->scratch_threads; i++)
        mem_free(cpu->scratch[i]);
    mem_free(cpu->scratch);
    mem_free(cpu->shared);
    mem_free(cpu);
}

static void cpu_plan(const struct machine *m, uint32_t batch, uint32_t micro, struct plan *plan)
{
    const struct cpu *cpu = (const struct cpu *)m;
    (void)batch;
    (void)micro;
    snprintf(plan->core, sizeof plan->core, "%s", cpu->vec->name);
    snprintf(plan->blas, sizeof plan->blas, "%s", cpu->blas ? cpu->blas->version : "none");
    snprintf(plan->blas_core, sizeof plan->blas_core, "%s", cpu->blas ? cpu->blas->core : "none");
    bool single = sizeof(real) == sizeof(float);
    snprintf(plan->precision, sizeof plan->precision, "%s",
             cpu->bf16 ? "bf16" : single ? "fp32" : "fp64");
    snprintf(plan->guests, sizeof plan->guests, "%s", cpu->bf16 ? cpu->bf16->name : "");
    plan->version = CPU_VERSION;
}

static void cpu_set_plan(struct machine *m, const struct plan *plan)
{
    struct cpu *cpu = cpu_of(m);
    const struct vec *vec = vec_find(plan->core);
    if (vec)
        cpu->vec = vec;
    bool half = strcmp(plan->precision, "bf16") == 0;
    const struct bf16_code *same = half ? bf16_find(plan->guests) : NULL;
    cpu->bf16 = same || !half ? same : bf16_choose();
    cpu->blas = strcmp(plan->blas_core, "none") == 0 ? NULL : cpu->guest;
}

/* --- memory and transfers --- */

static void *cpu_alloc(struct machine *m, size_t bytes, struct err *e)
{
    (void)m;
    (void)e;
    return mem_zero(1, bytes);
}

static void cpu_release(struct machine *m, void *memory)
{
    (void)m;
    mem_free(memory);
}

static const void *cpu_map_host(struct machine *m, const void *host, size_t bytes, struct err *e)
{
    (void)m;
    (void)bytes;
    (void)e;
    return host;
}

static void cpu_unmap_host(struct machine *m, const void *mapped)
{
    (void)m;
    (void)mapped;
}

static uint64_t cpu_bytes_free(struct machine *m)
{
    (void)m;
    return hostmem_available();
}

/* Each thread will touch as much scratch as the busiest thread has. */
static void cpu_describe_self(const struct machine *m, struct machine_info *info)
{
    const struct cpu *cpu = (const struct cpu *)m;
    uint64_t most = 0, all = 0;
    for (unsigned i = 0; i < cpu->scratch_threads; i++) {
        uint64_t there = hostmem_resident(cpu->scratch[i], CPU_SCRATCH);
        most = there > most ? there : most;
        all += there;
    }
    snprintf(info->precision, sizeof info->precision, "%s", cpu->bf16 ? "bf16" : "fp32");
    snprintf(info->precision_why, sizeof info->precision_why, "%s",
             cpu->bf16 ? cpu->bf16->name : "this processor has no products in bf16");
    info->to_come = most * cpu->scratch_threads - all;
}

static void cpu_copy(struct machine *m, uint32_t slot, void *to, const void *from, size_t bytes)
{
    (void)m;
    (void)slot;
    memmove(to, from, bytes);
}

static void cpu_act_download(struct machine *m, real *to, struct act from, size_t rows,
                             size_t width, size_t ld)
{
    (void)m;
    for (size_t r = 0; r < rows; r++)
        memcpy(to + r * width, act_read(from) + r * ld, width * sizeof *to);
}

static void cpu_fence(struct machine *m, uint32_t slot)
{
    (void)m;
    (void)slot;
}

static bool cpu_wait(struct machine *m, double seconds)
{
    (void)m;
    (void)seconds;
    return true;
}

static void cpu_interrupt(struct machine *m, bool (*stop)(void))
{
    struct cpu *cpu = cpu_of(m);
    cpu->stop = stop;
    cpu->broken_off = false;
}

static bool cpu_broken_off(const struct machine *m)
{
    return ((const struct cpu *)m)->broken_off;
}

static size_t cpu_act_bytes(const struct machine *m)
{
    (void)m;
    return sizeof(real);
}

/* --- no private copy of the weights: products read the weights themselves --- */

static size_t cpu_shadow_bytes(const struct machine *m, const struct group *groups, uint32_t count,
                               uint64_t n)
{
    (void)m;
    (void)groups;
    (void)count;
    (void)n;
    return 0;
}

static void cpu_refresh(struct machine *m, void *shadow, const real *p, const struct group *groups,
                        uint32_t count)
{
    (void)m;
    (void)shadow;
    (void)p;
    (void)groups;
    (void)count;
}

static struct act cpu_shadow_of(const struct machine *m, const void *shadow, uint64_t offset)
{
    (void)m;
    (void)shadow;
    (void)offset;
    return no_act();
}

const struct machine_type machine_cpu = {
    .name = "cpu",
    .open = cpu_open,
    .close = cpu_close,
    .alloc = cpu_alloc,
    .release = cpu_release,
    .host_alloc = cpu_alloc,
    .host_release = cpu_release,
    .map_host = cpu_map_host,
    .unmap_host = cpu_unmap_host,
    .bytes_free = cpu_bytes_free,
    .describe = cpu_describe_self,
    .upload = cpu_copy,
    .download = cpu_copy,
    .act_download = cpu_act_download,
    .fence = cpu_fence,
    .wait = cpu_wait,
    .issue = cpu_issue,
    .record = cpu_record,
    .stop = cpu_stop,
    .play = cpu_play,
    .drop = cpu_drop,
    .need = cpu_need,
    .plan = cpu_plan,
    .set_plan = cpu_set_plan,
    .act_bytes = cpu_act_bytes,
    .shadow_bytes = cpu_shadow_bytes,
    .refresh = cpu_refresh,
    .shadow_of = cpu_shadow_of,
    .interrupt = cpu_interrupt,
    .broken_off = cpu_broken_off,
    .in_place = true,
    .path = cpu_path,
    .track = cpu_track,
};
