/* select_auto.c - `auto`: estimates for CPU and GPU, and the choice. See select.h and cost.h. The
 * GPU is opened if the estimates favour it; then the estimate is made again for its model. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "choose/select.h"

bool select_is_gpu(const struct selection *s)
{
    return strcmp(s->used, "dnn_gpu") == 0;
}

bool select_wants_gpu(const struct selection *s)
{
    return s->machine && strcmp(s->machine, "cpu") != 0;
}

bool select_compared(const struct selection *s)
{
    return s->cpu_s >= 0 && s->gpu_s >= 0;
}

void select_took(struct selection *s, double seconds)
{
    if (!select_compared(s))
        *(select_is_gpu(s) ? &s->gpu_s : &s->cpu_s) = seconds;
}

static void say(struct selection *s, bool gpu)
{
    snprintf(s->reason, sizeof s->reason, "estimates: cpu %.1f s, gpu %.1f s", s->cpu_s, s->gpu_s);
    log_line("auto: cpu %.1f s, gpu %.1f s; using %s", s->cpu_s, s->gpu_s, gpu ? "GPU" : "CPU");
}

/* Times products of this CPU. */
static void probe_cpu(struct cost_rates *cpu)
{
    struct err e = {0};
    struct cost_probe found = {0};
    struct machine *m = machine_open(&(struct machine_options){.backend = "cpu"}, &e);
    if (m && cost_probe(m, false, &found, &e))
        cost_refine(cpu, &found);
    machine_close(m);
}

void select_decide(struct selection *s, const struct select_work *work)
{
    struct cpu_info processor;
    struct card_figures card;
    if (s->machine)
        return;
    cpu_describe(&processor);
    card_find("", "", &card); /* not opened yet */
    struct cost_rates cpu =
        cost_of_cpu(processor.core, s->deterministic ? COST_THREADS : s->threads);
    struct cost_rates gpu = cost_of_card(&card, s->precision);
    s->work = *work;
    s->cpu_s = cost_seconds(&cpu, work);
    if (!s->deterministic && s->cpu_s > COST_SMALL / 2) {
        probe_cpu(&cpu);
        s->cpu_s = cost_seconds(&cpu, work);
    }
    s->gpu_s = cost_seconds(&gpu, work);
    s->estimated = cost_prefers_gpu(s->cpu_s, s->gpu_s);
    s->machine = s->estimated ? "cuda" : "cpu";
    if (!s->estimated)
        say(s, false);
}

void select_piped(struct selection *s)
{
    if (s->machine)
        return;
    s->machine = "cpu";
    snprintf(s->reason, sizeof s->reason, "input from a pipe");
    log_line("auto: input from a pipe; using CPU");
}

bool select_stays(struct selection *s, struct machine *m, double opened_s)
{
    struct machine_info info;
    struct plan plan;
    struct card_figures card;
    struct cost_probe found = {.start_s = opened_s};
    struct err e = {0};
    if (!s->estimated)
        return true;
    s->estimated = false;
    machine_describe(m, &info);
    machine_plan(m, 256, 1, &plan);
    machine_set_plan(m, &plan); /* the probe uses the precision of the job */
    card_find(info.device, plan.core, &card);
    struct cost_rates gpu = cost_of_card(&card, plan.precision);
    if (!s->deterministic) {
        if (!cost_probe(m, true, &found, &e))
            return true; /* broken or full: the job reports it */
        cost_refine(&gpu, &found);
    }
    s->gpu_s = cost_seconds(&gpu, &s->work);
    bool stays = cost_prefers_gpu(s->cpu_s, s->gpu_s);
    say(s, stays);
    return stays;
}

void select_by_plan(struct selection *s, const struct plan *plan)
{
    bool gpu = strcmp(plan->backend, "cuda") == 0;
    s->machine = gpu ? "cuda" : "cpu";
    snprintf(s->reason, sizeof s->reason, "the checkpoint's");
    log_line("auto: the checkpoint was computed on the %s; using it", gpu ? "GPU" : "CPU");
}
