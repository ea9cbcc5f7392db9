/* What kernels move, for the shapes of the benchmark: launches, bytes that pass between blocks and
 * memory, the least that would do, arithmetic for each byte of either, and how often lanes load,
 * store or wait for each other; counted by the shadow.
 * tests/traffic.table keeps it, and nothing may get worse by more than a fiftieth.
 *
 *     test_traffic --print    the table as it is now (make traffic-table) */
#include <math.h>

#include "form.cuh"
#include "harness.h"
#include "kernel_machine.h"

/* --- counting --- */

enum { LINES = 512, NAME = 72 };
struct line {
    char name[NAME];
    double launches, flops, read, written, least, shared, accesses, collectives;
};
static struct line lines[LINES];
static unsigned line_count;
static char current[NAME]; /* the case */

static struct line *line_of(const char *name)
{
    for (unsigned i = 0; i < line_count; i++)
        if (strcmp(lines[i].name, name) == 0)
            return &lines[i];
    if (line_count == LINES)
        abort();
    struct line *l = &lines[line_count++];
    *l = line{};
    snprintf(l->name, sizeof l->name, "%s", name);
    return l;
}

static void count_to(struct line *l)
{
    const struct emulate_counts *c = &emulate_counts;
    l->launches += (double)c->launches;
    l->read += (double)c->fetched;
    l->written += (double)c->stored;
    l->least += (double)(c->least_read + c->least_written);
    l->shared += (double)(c->shared_read + c->shared_written);
    l->accesses += (double)c->accesses;
    l->collectives += (double)c->collectives;
}

/* The case's own line comes before those of its kernels. */
static void launched(const char *kernel)
{
    char name[2 * NAME];
    bool braced = kernel[0] == '(';
    unsigned length = 0;
    while (kernel[braced + length] && !strchr("<) ,", kernel[braced + length]))
        length++;
    count_to(line_of(current));
    snprintf(name, sizeof name, "%s: %.*s", current, (int)length, kernel + braced);
    count_to(line_of(name));
    emulate_counts = {};
}

static struct line *begin_case(const char *name)
{
    snprintf(current, sizeof current, "%s", name);
    emulate_counts = {};
    return line_of(current);
}

/* What a kernel of the case computes. */
static void give_flops(const char *kernel, double flops)
{
    char name[2 * NAME];
    snprintf(name, sizeof name, "%s: %s", current, kernel);
    line_of(name)->flops = flops;
}

/* The case's arithmetic is that of its product, or of its only kernel. */
static void share_flops(const struct line *all)
{
    struct line *only = NULL;
    unsigned kernels = 0;
    for (unsigned i = 0; i < line_count; i++) {
        size_t length = strlen(all->name);
        const char *kernel = lines[i].name + length;
        if (strncmp(lines[i].name, all->name, length) != 0 || strncmp(kernel, ": ", 2) != 0)
            continue;
        kernels++;
        if (!only || strncmp(kernel, ": gemm", 6) == 0)
            only = &lines[i];
    }
    if (only && (kernels == 1 || strstr(only->name, ": gemm")))
        only->flops = all->flops;
}

/* --- the cases --- */

static void count_operation(struct machine *m, enum op_id op)
{
    char name[NAME];
    struct opcase c = opcase_sized(op, 256, 128);
    opcase_name(&c, name, sizeof name);
    for (char *p = name; *p; p++)
        *p = *p == ',' ? ' ' : *p;
    struct opdata *d = opcase_make(&c, m, 42); /* which may start a kernel of its own */
    struct line *l = begin_case(name);
    device_launched = launched;
    machine_issue(m, op, &d->arguments);
    device_launched = NULL;
    l->flops = d->flops;
    share_flops(l);
    opcase_free(d);
}

static struct act act_of(size_t n)
{
    return plain_act(device_numbers(1, n, NULL));
}

/* A step of 14-128-128-2 with 256 rows, as it is recorded: what belongs together goes together. */
static void count_step(struct machine *m)
{
    enum { ROWS = 256, LAYERS = 3, SHARDS = 4, RECORDS = 1000 };
    static const uint32_t width[] = {14, 128, 128, 2};
    struct opcase of_gather = {}, of_adam = {}, of_advance = {};
    of_gather.op = OP_gather;
    of_gather.rows = ROWS;
    of_gather.in = 14;
    of_gather.kind = 2;
    of_gather.flags = CASE_SHUFFLE;
    of_adam.op = OP_adam;
    of_adam.rows = SHARDS;
    of_adam.in = (14 + 1) * 128 + (128 + 1) * 128 + (128 + 1) * 2;
    of_adam.kind = 3;
    of_advance.op = OP_advance;
    of_advance.rows = SHARDS;
    of_advance.in = 3;
    struct opdata *gather = opcase_make(&of_gather, m, 1), *adam = opcase_make(&of_adam, m, 2),
                  *advance = opcase_make(&of_advance, m, 3);
    struct op_gather *g = &gather->arguments.gather;
    struct op_dense forward[LAYERS] = {};
    struct op_dense_back back[LAYERS] = {};
    struct op_loss_class loss = {};
    struct op_norm2 norm = {};
    struct kernel_op ops[2 * LAYERS + 5];
    uint32_t n = 0;
    uint64_t at = 0;
    /* the gather of its own has indicators, this one has none */
    struct features none = {};
    struct source from = *g->from;
    from.features = device_array(&none, 1);
    from.index = NULL;
    g->from = device_array(&from, 1);
    g->ld = 14;
    g->x = act_of(ROWS * 14);
    float *p = adam->arguments.adam.p, *grads = (float *)(uintptr_t)adam->arguments.adam.from.g;
    double ways = 0, gradients = 0; /* forward and dx; dw */
    for (int i = 0; i < LAYERS; i++) {
        struct op_dense *a = &forward[i];
        a->x = i ? forward[i - 1].y : g->x;
        a->y = act_of(ROWS * width[i + 1]);
        a->w = p + at;
        a->b = a->w + width[i] * width[i + 1];
        a->rows = ROWS;
        a->in = a->ldx = width[i];
        a->out = a->ldy = a->ldz = width[i + 1];
        a->act = i < LAYERS - 1 ? ACT_RELU : ACT_NONE;
        a->shards = SHARDS;
        struct op_dense_back *b = &back[i];
        b->dy = act_of(ROWS * width[i + 1]);
        b->dx = i ? back[i - 1].dy : no_act();
        b->dw = grads + at;
        b->db = b->dw + width[i] * width[i + 1];
        b->x = a->x;
        b->y = a->y;
        b->w = a->w;
        b->shard_stride = adam->arguments.adam.from.shard_stride;
        b->rows = ROWS;
        b->in = b->ldx = b->lddx = a->in;
        b->out = b->ldy = b->ldz = b->lddy = a->out;
        b->act = a->act;
        b->shards = SHARDS;
        at += (width[i] + 1) * width[i + 1];
        ways += (i ? 4.0 : 2.0) * ROWS * width[i] * width[i + 1];
        gradients += 2.0 * ROWS * width[i] * width[i + 1];
    }
    loss.dlogits = back[LAYERS - 1].dy;
    loss.logits = forward[LAYERS - 1].y;
    loss.part_loss = device_array((const double[SHARDS]){}, SHARDS);
    loss.part_weight = (double *)(uintptr_t)adam->arguments.adam.from.part_weight;
    loss.target = g->target;
    loss.weight = g->weight;
    loss.rows = ROWS;
    loss.shards = SHARDS;
    loss.classes = loss.ld = loss.ldd = 2;
    norm.now = (struct step *)(uintptr_t)adam->arguments.adam.now;
    norm.sums = (void *)(uintptr_t)adam->arguments.adam.sums;
    norm.from = adam->arguments.adam.from;
    struct op_advance *end = &advance->arguments.advance;
    end->now = norm.now;
    end->part_loss = loss.part_loss;
    end->part_weight = loss.part_weight;
    ops[n++] = kernel_op{OP_gather, g};
    for (int i = 0; i < LAYERS; i++)
        ops[n++] = kernel_op{OP_dense, &forward[i]};
    ops[n++] = kernel_op{OP_loss_class, &loss};
    for (int i = LAYERS - 1; i >= 0; i--)
        ops[n++] = kernel_op{OP_dense_back, &back[i]};
    ops[n++] = kernel_op{OP_norm2, &norm};
    ops[n++] = kernel_op{OP_adam, &adam->arguments.adam};
    ops[n++] = kernel_op{OP_advance, end};
    struct need need;
    uint64_t most = SCRATCH_HEAD;
    for (uint32_t i = 0; i < n; i++) {
        kernels_need(ops[i].op, ops[i].arguments, &need);
        most = need.scratch > most ? need.scratch : most;
    }
    char *room = (char *)device_room(most);
    memset(room, 0, SCRATCH_HEAD);
    shadow_written(room, SCRATCH_HEAD);
    device_launched = launched;
    struct line *l = begin_case("a step 14-128-128-2 of 256 rows");
    for (uint32_t i = 0; i < n;)
        i += kernels_issue_front(m, ops + i, n - i, products{PRODUCT_FP32, 0}, room);
    device_launched = NULL;
    give_flops("mlp_step", ways);
    give_flops("gemm_many", gradients);
    give_flops("norm2_tile", 2.0 * (double)at);
    give_flops("update", 14.0 * (double)at);
    l->flops = ways + gradients + 16.0 * (double)at;
    opcase_free(gather);
    opcase_free(adam);
    opcase_free(advance);
    device_drop_all();
}

/* n numbers kept in bf16. */
static struct act half_of(size_t n)
{
    struct act half = form_act(device_empty<uint16_t>(n), FORM_BF16);
    cuda_round(NULL, half.at, device_numbers(1, n, NULL), FORM_BF16, n);
    return half;
}

/* Products of a 512-wide layer in bf16, as a training keeps it in 16 bits, of fewer rows: tiles are
 * the same. which: forward, dx, dw. */
static void count_product(int which)
{
    static const char *const names[] = {"bf16 product of 512: forward", "bf16 product of 512: dx",
                                        "bf16 product of 512: dw"};
    uint32_t m = which == 2 ? 256 : 128, n = 256, k = which == 2 ? 128 : 512;
    struct gemm g = {};
    g.a = half_of((size_t)m * k);
    g.b = half_of((size_t)n * k);
    g.c = which == 2 ? plain_act(device_numbers(3, (size_t)m * n, NULL)) : half_of((size_t)m * n);
    g.m = m;
    g.n = n;
    g.k = k;
    g.parts = 1;
    g.a_row = which == 2 ? 1 : k;
    g.a_col = which == 2 ? m : 1;
    g.b_row = which == 1 ? 1 : n;
    g.b_col = which == 1 ? k : 1;
    g.c_row = n;
    struct line *l = begin_case(names[which]);
    device_launched = launched;
    if (gemm_half_can(&g, PRODUCT_BF16))
        gemm_half_start(NULL, &g, PRODUCT_BF16);
    else
        gemm_wide_start(NULL, &g, PRODUCT_BF16);
    device_launched = NULL;
    l->flops = 2.0 * m * n * k;
    share_flops(l);
    device_drop_all();
}

/* --- the table --- */

static void print_table(FILE *out)
{
    fprintf(out, "# %-52s %8s %10s %10s %10s %10s %10s %10s %10s %8s %8s\n", "what; its kernels",
            "launches", "flops", "read", "written", "least", "shared", "accesses", "together",
            "intensity", "of");
    for (unsigned i = 0; i < line_count; i++) {
        const struct line *l = &lines[i];
        double moved = l->read + l->written;
        fprintf(out, "%-54s, %8.0f %10.0f %10.0f %10.0f %10.0f %10.0f %10.0f %10.0f", l->name,
                l->launches, l->flops, l->read, l->written, l->least, l->shared, l->accesses,
                l->collectives);
        if (l->flops > 0)
            fprintf(out, " %8.2f %8.2f\n", l->flops / moved, l->flops / l->least);
        else
            fprintf(out, " %8s %8s\n", "-", "-");
    }
}

static bool worse(double now, double kept)
{
    return now > kept * 1.02 + 64;
}

static void compare(const char *path)
{
    char text[512];
    unsigned cases = 0;
    FILE *in = fopen(path, "r");
    if (!ok(in, "%s is there", path))
        return;
    while (fgets(text, sizeof text, in)) {
        char *end = strstr(text, ",");
        struct line kept = {};
        if (text[0] == '#' || !end ||
            sscanf(end + 1, "%lf %lf %lf %lf %lf %lf %lf %lf", &kept.launches, &kept.flops,
                   &kept.read, &kept.written, &kept.least, &kept.shared, &kept.accesses,
                   &kept.collectives) != 8)
            continue;
        while (end > text && end[-1] == ' ')
            end--;
        *end = 0;
        const struct line *now = NULL;
        for (unsigned i = 0; i < line_count; i++)
            now = strcmp(lines[i].name, text) == 0 ? &lines[i] : now;
        cases += now && !strchr(text, ':');
        if (!now)
            continue; /* a kernel that is no more: its case's line tells */
        ok(now->launches <= kept.launches, "%s: %.0f launches, %.0f kept", text, now->launches,
           kept.launches);
        ok(!worse(now->read + now->written, kept.read + kept.written),
           "%s: %.0f bytes moved, %.0f kept (make traffic-table where it is meant)", text,
           now->read + now->written, kept.read + kept.written);
        ok(!worse(now->shared, kept.shared), "%s: %.0f bytes within blocks, %.0f kept", text,
           now->shared, kept.shared);
        ok(!worse(now->accesses + now->collectives, kept.accesses + kept.collectives),
           "%s: %.0f loads, stores and collectives of lanes, %.0f kept", text,
           now->accesses + now->collectives, kept.accesses + kept.collectives);
    }
    fclose(in);
    ok(cases >= OP_COUNT, "%u cases", cases);
}

int main(int count, char **words)
{
    bool print = count > 1 && strcmp(words[1], "--print") == 0;
    if (!shadow_present) {
        tap_skip("bytes that kernels move", "the shadow counts them");
        return done();
    }
    struct machine *m = kernel_machine();
    device_sms_wanted = 132; /* a card on which each block has one to itself */
    count_step(m);
    device_sms_wanted = 3;
    for (int which = 0; which < 3; which++)
        count_product(which);
    for (int op = 0; op < OP_COUNT; op++)
        count_operation(m, (enum op_id)op);
    if (print) {
        print_table(stdout);
        return 0;
    }
    compare("tests/traffic.table");
    is_int(emulate_findings(), 0, "no findings");
    return done();
}
