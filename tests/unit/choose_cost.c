/* choose_cost.c - which job goes where, on machines that are made up; and what a probe changes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/card.h"
#include "backend/machine.h"
#include "base/process/thread.h"
#include "choose/cost.h"
#include "choose/select.h"
#include "tap.h"

/* 107,008 operations a row of a step: 14 numbers, 128-128-2. */
static struct select_work small_net(double rows, double epochs, double batch)
{
    return (struct select_work){.rows = rows * epochs, .flops = 107008,
                                .steps = rows * epochs / batch, .bytes = rows * 64};
}
/* 28 numbers, 512-512-512-1. */
static struct select_work wide_net(double rows, double epochs, double batch)
{
    return (struct select_work){.rows = rows * epochs, .flops = 3.2e6,
                                .steps = rows * epochs / batch, .bytes = rows * 120};
}

const bool card_emulated = true; /* auto has a card to think of */

static bool goes_to_gpu(const char *core, unsigned threads, const char *card, const char *arch,
                        struct select_work work)
{
    struct card_figures f;
    card_find(card, arch, &f);
    struct cost_rates cpu = cost_of_cpu(core, threads), gpu = cost_of_card(&f, "fp32");
    return cost_prefers_gpu(cost_seconds(&cpu, &work), cost_seconds(&gpu, &work));
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

static int rooms; /* that are left */
static void *(*usual_alloc)(struct machine *, size_t, struct err *);
static void *alloc_some(struct machine *m, size_t bytes, struct err *e)
{
    if (rooms-- > 0)
        return usual_alloc(m, bytes, e);
    err_set(e, ERR_GPU_MEMORY, "full");
    return NULL;
}

/* A device that is nearly full: the probe says so, whichever allocation it is, and nothing runs on
 * memory that is not there. */
static void full_device(struct machine *m)
{
    const struct machine_type *usual = m->type;
    struct machine_type full = *usual;
    int fitting = 0;
    usual_alloc = usual->alloc;
    full.alloc = alloc_some;
    m->type = &full;
    for (;; fitting++) {
        struct err e = {0};
        struct cost_probe p = {0};
        rooms = fitting;
        if (cost_probe(m, true, &p, &e))
            break;
        ok(e.id == ERR_GPU_MEMORY, "room for %d buffers: %s", fitting, e.what);
        if (fitting > 40)
            break;
    }
    ok(fitting > 3 && fitting < 40, "with room enough it goes on");
    m->type = usual;
}

int main(void)
{
    struct select_work leads = small_net(5000, 20, 256), bank = small_net(45000, 50, 256),
                       higgs = wide_net(11e6, 1, 4096), tiny = small_net(1000, 1, 32);
    ok(!goes_to_gpu("avx512", 2, "NVIDIA H200", "sm_90", leads), "a small job: the CPU");
    ok(!goes_to_gpu("c", 1, "NVIDIA H200", "sm_90", tiny), "even of a slow one");
    ok(goes_to_gpu("avx512", 2, "NVIDIA H200", "sm_90", bank), "50 epochs of 45,000 rows: an H200");
    ok(!goes_to_gpu("avx512", 64, "NVIDIA H200", "sm_90", bank), "but not beside 64 threads");
    ok(goes_to_gpu("avx512", 64, "NVIDIA H200", "sm_90", higgs), "11 million rows, 512 wide: it");
    ok(goes_to_gpu("avx2", 8, "Tesla T4", "sm_75", higgs), "or an old card");
    ok(!goes_to_gpu("avx512", 64, "NVIDIA A100-SXM4-40GB MIG 1g.5gb", "sm_80", higgs),
       "a seventh of a card is slower than 64 threads");
    ok(goes_to_gpu("avx512", 8, "", "", higgs), "a card nobody has looked at is worth a look");
    ok(!cost_prefers_gpu(0.99, 0.01), "under a second nobody looks");
    ok(cost_prefers_gpu(1.5, 1.4) && !cost_prefers_gpu(1.5, 1.6), "else the faster one");

    struct cost_rates r = {.start_s = 0.5, .product = 1e12, .share = 0.5, .node_s = 1e-6,
                           .nodes = 10, .row_s = 1e-9, .bytes = 1e9};
    struct select_work w = {.rows = 1e6, .flops = 1e6, .steps = 1e3, .bytes = 2e9};
    ok(near(cost_seconds(&r, &w), 0.5 + 2 + 1e-3 + 1e-2 + 2), "start, rows, steps, bytes");
    r.bytes = 0;
    ok(near(cost_seconds(&r, &w), 0.5 + 2 + 1e-3 + 1e-2), "nothing is moved to a CPU");

    struct cost_rates few = cost_of_cpu("avx2", 8), many = cost_of_cpu("avx2", 64);
    few.node_s = many.node_s = few.row_s = many.row_s = 0;
    ok(near(cost_seconds(&few, &bank), cost_seconds(&many, &bank)),
       "a batch of 256 feeds 8 threads, not 64");
    ok(near(cost_seconds(&few, &higgs), 8 * cost_seconds(&many, &higgs)), "one of 4096 does");

    struct cost_rates was = r;
    cost_refine(&r, &(struct cost_probe){0});
    ok(memcmp(&r, &was, sizeof r) == 0, "what was not measured stands");
    cost_refine(&r, &(struct cost_probe){0.3, 1.9e12, 0.6e-6, 5e9});
    ok(memcmp(&r, &was, sizeof r) == 0, "what is near stands");
    cost_refine(&r, &(struct cost_probe){3, 1e11, 9e-6, 5e9});
    ok(near(r.start_s, 3) && near(r.product, 1e11) && near(r.node_s, 9e-6) && r.bytes <= 0,
       "what is far off is replaced");

    threads_start(1);
    struct err e = {0};
    struct machine *m = machine_open(&(struct machine_options){.backend = "cpu"}, &e);
    struct cost_probe p = {0};
    ok(m && cost_probe(m, false, &p, &e), "a probe of this CPU");
    ok(p.product > 1e7 && p.node_s > 0 && p.node_s < 1 && p.bytes <= 0 && p.start_s <= 0,
       "finds what it looks for");
    struct cost_probe device = {0};
    ok(cost_probe(m, true, &device, &e) && device.bytes > 1e6, "of a device the copy too");

    full_device(m);

    struct selection s = {.requested = "auto", .used = "dnn_cpu", .precision = "fp32",
                          .threads = 1, .cpu_s = -1, .gpu_s = -1};
    select_decide(&s, &leads);
    ok(strcmp(s.machine, "cpu") == 0 && s.cpu_s < 1 && s.gpu_s > 0.3 && !s.estimated,
       "auto: small work stays on the CPU, with both estimates");
    s.machine = NULL;
    select_decide(&s, &higgs);
    ok(strcmp(s.machine, "cuda") == 0 && s.estimated && s.cpu_s > s.gpu_s,
       "large work asks for the GPU, for now");
    s.cpu_s = 1e9; /* this machine stands for the GPU that was opened */
    ok(select_stays(&s, m, 0.1) && s.gpu_s > 0 && s.gpu_s < 1e9 && !s.estimated,
       "which stays where it is faster");
    ok(strncmp(s.reason, "estimates: cpu ", 15) == 0, "and that is the reason");
    s.estimated = true;
    s.cpu_s = 1.5;
    s.work = (struct select_work){.rows = 1e9, .flops = 1e9, .steps = 1e6};
    ok(!select_stays(&s, m, 0.1) && s.gpu_s > 1.5, "and is left where it is slower than hoped");
    ok(select_stays(&s, m, 0.1), "nobody asks a third time");

    /* deterministic: neither threads nor a probe */
    struct selection once = {.requested = "auto", .used = "dnn_cpu", .precision = "fp32",
                             .threads = 1, .deterministic = true, .cpu_s = -1, .gpu_s = -1};
    struct selection twice = once;
    twice.threads = 64;
    select_decide(&once, &higgs);
    select_decide(&twice, &higgs);
    ok(strcmp(once.machine, "cuda") == 0 && once.cpu_s == twice.cpu_s && once.gpu_s == twice.gpu_s,
       "deterministic: the estimates know no threads and no clock");
    bool first = select_stays(&once, m, 0.1), second = select_stays(&twice, m, 100);
    ok(first == second && once.gpu_s == twice.gpu_s, "nor how long the GPU took to open");
    once.machine = NULL;
    select_piped(&once);
    ok(strcmp(once.machine, "cpu") == 0, "input from a pipe is answered on the CPU");
    setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
    ok(!card_present(), "a card that is hidden is not there");
    machine_close(m);
    return done();
}
