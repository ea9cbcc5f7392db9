/* gpucheck_work.c - the checks by computing: memory, copies, and every kernel against the CPU. The
 * cases of the kernels: backend/cases/opcase.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backend/card.h"
#include "backend/cases/opcase.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/process/stop.h"
#include "check/gpucheck_parts.h"

#define MIB ((uint64_t)1 << 20)
#define LEAST_FREE (24 * MIB) /* the need of the checks and of a small training */

static bool quick(const struct gpu_job *j)
{
    return j->o->level == GPU_QUICK;
}

/* True: the check tells of the failure: e is clear then. */
static bool told(struct gpu_check *c, struct err *e)
{
    if (gpucheck_blame(c, e))
        err_clear(e);
    return e->id == ERR_NONE;
}

/* --- alloc, copy --- */

static bool check_alloc(struct gpu_job *j, size_t bytes, void **at, struct err *e)
{
    struct gpu_check *c = gpucheck_add(j->g, "alloc");
    uint64_t left = machine_bytes_free(j->machine);
    *at = NULL;
    gpucheck_measured(c, "%.0f MiB free", (double)left / (double)MIB);
    gpucheck_threshold(c, "%.0f MiB", (double)LEAST_FREE / (double)MIB);
    if (left >= LEAST_FREE || left == 0) /* 0: not known */
        *at = machine_alloc(j->machine, bytes, e);
    if (*at) {
        gpucheck_reason(c, "%.0f MiB can be had", (double)bytes / (double)MIB);
        return true;
    }
    if (e->id == ERR_NONE) /* a failure that the question met, if any */
        machine_wait(j->machine, MACHINE_PATIENCE, e);
    if (!gpucheck_blame(c, e)) {
        gpucheck_fail(c, GPU_BUSY);
        gpucheck_reason(c, "the card is full");
        gpucheck_fix(c, "`nvidia-smi` lists who uses its memory%s%s; wait until they have left",
                     j->libraries.card.holders[0] ? ": processes " : "", j->libraries.card.holders);
    }
    err_clear(e);
    return false;
}

/* Words that no shifted or repeated block equals. */
static void pattern(uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        words[i] = (uint32_t)i * 2654435761u ^ 0x5bd1e995u;
}

static bool check_copy(struct gpu_job *j, size_t bytes, void *at, struct err *e)
{
    struct gpu_check *c = gpucheck_add(j->g, "copy");
    struct machine *m = j->machine;
    uint32_t *from = machine_host_alloc(m, bytes, e), *to = machine_host_alloc(m, bytes, e);
    double up = INFINITY, down = INFINITY;
    bool good = from && to, same = true;
    if (good)
        pattern(from, bytes / sizeof *from);
    for (int i = 0; good && i < 3; i++) {
        double began = clock_now();
        machine_upload(m, at, from, bytes);
        good = machine_wait(m, MACHINE_PATIENCE, e);
        double between = clock_now();
        machine_download(m, to, at, bytes);
        good = good && machine_wait(m, MACHINE_PATIENCE, e);
        up = fmin(up, between - began);
        down = fmin(down, clock_now() - between);
        same = same && good && memcmp(from, to, bytes) == 0;
        memset(to, 0, bytes);
    }
    machine_host_release(m, from);
    machine_host_release(m, to);
    if (!good)
        return told(c, e);
    double least = (double)bytes / fmax(fmax(up, down), 1e-9) / 1e9;
    double enough = fmax(GPU_SHARE * j->card.copy / 1e9, 1);
    gpucheck_measured(c, "%.1f GB/s to the card, %.1f GB/s back", (double)bytes / up / 1e9,
                      (double)bytes / down / 1e9);
    gpucheck_threshold(c, "every byte, and %.3g GB/s", enough);
    gpucheck_reason(c, "%.0f MiB went there and back", (double)bytes / (double)MIB);
    if (!same) {
        gpucheck_faulty(c, "the card or its slot is defective: dmesg (lines with Xid and AER) says "
                           "more; have it replaced", "other bytes came back than were sent");
    } else if (least < enough && !j->emulated) {
        c->status = GPU_WARN;
        gpucheck_reason(c, "copies are slow: half of what %s gives is %.3g GB/s; the card may "
                           "stand in a slot of few lanes", gpucheck_kind(&j->card).text, enough);
        gpucheck_fix(c, "`nvidia-smi -q -d PCIE` shows the width of the link, now and at most");
    }
    return true;
}

bool gpucheck_memory(struct gpu_job *j, struct err *e)
{
    uint64_t most = machine_bytes_free(j->machine) / 4;
    size_t bytes = (size_t)(quick(j) ? 8 * MIB : 256 * MIB);
    void *at;
    while (bytes > most && bytes > MIB)
        bytes /= 2;
    bool good = !check_alloc(j, bytes, &at, e) || check_copy(j, bytes, at, e);
    machine_release(j->machine, at);
    return good;
}

/* --- kernels --- */

static double work_of(const struct opcase *c)
{
    return (double)c->rows * (c->in ? c->in : 1) * (c->out ? c->out : 1);
}

/* quick: cases of little work, and the smallest one in any case. */
static bool wanted(const struct gpu_job *j, const struct opcase *c, double smallest)
{
    return !quick(j) || work_of(c) <= 20000 || work_of(c) <= smallest;
}

/* Waits for the card. False: it failed; e is clear if the check reports that itself. */
static bool answered(const struct gpu_job *j, struct gpu_check *c, struct err *e)
{
    return machine_wait(j->machine, MACHINE_PATIENCE, e) || (told(c, e), false);
}

static bool check_op(struct gpu_job *j, enum op_id op, struct machine *cpu, struct err *e)
{
    char id[32], worst_name[128] = "", name[128];
    const struct opcase *c;
    double smallest = INFINITY, worst = 0, gate = 0, share = -1;
    unsigned cases = 0;
    snprintf(id, sizeof id, "kernel.%s", op_name(op));
    struct gpu_check *k = gpucheck_add(j->g, id);
    for (size_t i = 0; (c = opcase_at(i)); i++)
        if (c->op == op)
            smallest = fmin(smallest, work_of(c));
    for (size_t i = 0; (c = opcase_at(i)) && !stop_wanted(); i++) {
        if (c->op != op || !wanted(j, c, smallest))
            continue;
        const char *where = "";
        double d = gpucheck_case(c, j->machine, cpu, true, &where, e);
        if (d < 0)
            return told(k, e);
        double part = d <= 0 ? 0 : c->gate > 0 ? d / c->gate : (double)INFINITY;
        cases++;
        if (part <= share)
            continue;
        share = part;
        worst = d;
        gate = c->gate;
        opcase_name(c, name, sizeof name);
        snprintf(worst_name, sizeof worst_name, "%.100s%s%.20s", name, *where ? ", " : "", where);
    }
    if (!answered(j, k, e))
        return e->id == ERR_NONE;
    gpucheck_measured(k, "%.2g", worst);
    gpucheck_threshold(k, "%.2g", gate);
    gpucheck_reason(k, "%u case%s; the worst: %s", cases, cases == 1 ? "" : "s", worst_name);
    if (share > 1)
        gpucheck_faulty(k, "do not train on this card; run it once more, try another driver, and "
                        GPU_REPORT, "differs from the CPU: %s", worst_name);
    gpucheck_precision(j, k, op, cpu);
    return answered(j, k, e) || e->id == ERR_NONE;
}

bool gpucheck_kernels(struct gpu_job *j, struct err *e)
{
    struct machine *cpu = machine_open(&(struct machine_options){.backend = "cpu"}, e);
    bool good = cpu != NULL;
    for (int op = 0; good && op < (int)OP_COUNT; op++) {
        good = check_op(j, (enum op_id)op, cpu, e);
        if (machine_failed(j->machine))
            break;
    }
    machine_close(cpu);
    return good;
}
