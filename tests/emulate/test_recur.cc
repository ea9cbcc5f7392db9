/* Recurrent layers: the bits of a row depend neither on how many rows a block has, nor on where u
 * stands (in registers, in shared memory, in memory, with the room of a block in memory as well),
 * nor on the order of lanes. Forward they are those of one chain of sums. Answers and gradients in
 * 16 bits stand for their values. */
#include "epilogue.cuh"
#include "form.cuh"
#include "harness.h"
#include "kernel_machine.h"

static struct machine *device;

/* --- one chain of sums --- */

/* The gates of a row's unit at a step, before their curves; h: of the step before. */
static float chain(const struct op_recur *a, const float *h, const float *inputs, uint32_t gate,
                   uint32_t j)
{
    uint32_t n = a->units, columns = RECUR_COLUMNS(a->kind), first = RECUR_GATES - columns;
    float sum = a->kind == RECUR_GRU && gate == 3 ? 0 : inputs[gate * n + j];
    for (uint32_t k = 0; k < n && gate >= first; k++)
        sum = fmaf(h[k], a->u[(k * columns + gate - first) * n + j], sum);
    return sum;
}

/* A row from its inputs; returns how many answers differ. */
static unsigned differ(const struct op_recur *a, const float *inputs, uint32_t row)
{
    uint32_t n = a->units, bad = 0;
    float *h = (float *)calloc(3 * n, sizeof *h), *c = h + n, *next = c + n;
    for (uint32_t i = 0; i < a->steps; i++) {
        size_t at = (size_t)row * a->steps + (a->reverse ? a->steps - 1 - i : i);
        bool padding = at % a->steps >= (size_t)a->length[row];
        for (uint32_t j = 0; j < n; j++) {
            float v[RECUR_GATES];
            for (uint32_t g = 0; g < RECUR_GATES; g++)
                v[g] = chain(a, h, inputs + at * RECUR_GATES * n, g, j);
            if (a->kind == RECUR_LSTM) {
                c[j] = fmaf(sigmoid(v[1]), c[j], sigmoid(v[0]) * tanhf(v[2]));
                next[j] = sigmoid(v[3]) * tanhf(c[j]);
            } else {
                v[0] = tanhf(fmaf(sigmoid(v[1] + a->b[j]), v[3] + a->b[2 * n + j], v[0]));
                next[j] = fmaf(sigmoid(v[2] + a->b[n + j]), h[j] - v[0], v[0]);
            }
            c[j] = padding ? 0 : c[j];
            next[j] = padding ? 0 : next[j];
            bad += form_get(a->y, at * a->ldy + a->at + j) !=
                   (a->y.form ? bits_to_float(a->y.form, float_to_bits(a->y.form, next[j]))
                              : next[j]);
        }
        for (uint32_t j = 0; j < n; j++)
            h[j] = form_get(a->y, at * a->ldy + a->at + j);
    }
    free(h);
    return bad;
}

static void test_chain(uint32_t kind, uint32_t units, bool reverse, uint32_t form)
{
    struct opcase c = {};
    c.op = OP_recur;
    c.rows = 7;
    c.in = units;
    c.out = 5;
    c.kind = kind;
    c.flags = reverse ? CASE_SECOND : 0;
    struct opdata *d = opcase_make(&c, device, 3);
    struct op_recur *a = &d->arguments.recur;
    size_t count = (size_t)a->rows * a->steps * RECUR_GATES * units;
    float *inputs = (float *)malloc(count * sizeof *inputs);
    unsigned bad = 0;
    memcpy(inputs, a->gates, count * sizeof *inputs);
    if (form)
        a->y = form_act(device_room((size_t)a->rows * a->steps * a->ldy * 2), form);
    machine_issue(device, c.op, a);
    for (uint32_t row = 0; row < a->rows; row++)
        bad += differ(a, inputs, row);
    ok(bad == 0, "kind %u, %u units, reverse %d, form %u: one chain of sums, %u differ", kind,
       units, reverse, form, bad);
    free(inputs);
    opcase_free(d);
    device_drop_all();
}

/* Gradients that are kept in 16 bits, and the same in fp32. */
static void test_half(uint32_t kind)
{
    struct opcase c = {};
    c.op = OP_recur_back;
    c.rows = 5;
    c.in = 12;
    c.out = 4;
    c.kind = kind;
    struct opdata *plain = opcase_make(&c, device, 5), *half = opcase_make(&c, device, 5);
    struct op_recur_back *a = &plain->arguments.recur_back, *b = &half->arguments.recur_back;
    size_t count = (size_t)a->rows * a->steps * a->lddy;
    float *dy = (float *)a->dy.at;
    const char *where = "";
    b->dy = form_act(device_room(2 * count), FORM_BF16);
    for (size_t i = 0; i < count; i++) {
        form_put(b->dy, i, dy[i]);
        dy[i] = form_get(b->dy, i);
    }
    shadow_written(b->dy.at, 2 * count);
    machine_issue(device, c.op, a);
    machine_issue(device, c.op, b);
    ok(opcase_same(plain, half, &where), "kind %u: gradients in 16 bits %s", kind, where);
    opcase_free(half);
    opcase_free(plain);
    device_drop_all();
}

/* --- the same bits --- */

/* Multiprocessors and a block's memory, which say how many rows a block has and where u stands. */
struct card { uint32_t sms, bytes; };

static void test_cards(enum op_id op, uint32_t kind, uint32_t units, uint32_t rows, uint32_t flags,
                       const struct card *cards, unsigned count)
{
    struct opcase c = {};
    struct opdata *first = NULL;
    const char *where = "";
    c.op = op;
    c.rows = rows;
    c.in = units;
    c.out = units > 500 ? 2 : 5;
    c.kind = kind;
    c.flags = flags;
    for (unsigned i = 0; i < count; i++) {
        struct opdata *d = opcase_make(&c, device, 7);
        device_sms_wanted = cards[i].sms;
        block_bytes = cards[i].bytes ? cards[i].bytes : (size_t)SHARED_MOST;
        emulate_order(i % ORDER_COUNT);
        machine_issue(device, op, &d->arguments);
        ok(opcase_inside(d, &where) && (!first || opcase_same(d, first, &where)),
           "%s, kind %u, %u units, %u rows, flags %u: the same bits on a card of %u and %u %s",
           op_name(op), kind, units, rows, flags, cards[i].sms, cards[i].bytes, where);
        if (first)
            opcase_free(d);
        else
            first = d;
    }
    opcase_free(first);
    device_sms_wanted = 3;
    block_bytes = SHARED_MOST;
}

int main(void)
{
    static const struct card small[] = {{100, 0}, {1, 0}, {3, 0}}, /* held, kept */
        odd[] = {{1, 0}, {3, 0}, {100, 0}, {3, 10000}, {100, 5000}}, /* kept, read */
        large[] = {{100, 0}, {1, 0}, {100, 20000}};                /* read, the room in memory */
    static const uint32_t ways[] = {0, CASE_SECOND, CASE_MORE}, kinds[] = {RECUR_LSTM, RECUR_GRU},
                          forms[] = {FORM_REAL, FORM_BF16, FORM_FP16};
    static const enum op_id ops[] = {OP_recur, OP_recur_back};
    device = kernel_machine();
    for (enum op_id op : ops)
        for (uint32_t kind : kinds) {
            for (uint32_t way : ways) {
                test_cards(op, kind, 16, 9, way, small, 3);
                test_cards(op, kind, 18, 9, way, odd, 5);
            }
            test_cards(op, kind, 516, 5, 0, large, 3);
        }
    for (uint32_t kind : kinds) {
        for (uint32_t form : forms)
            test_chain(kind, form ? 10 : 64, form == FORM_REAL, form);
        test_chain(kind, 7, false, FORM_REAL);
        test_half(kind);
    }
    is_int(emulate_findings(), 0, "no findings");
    return done();
}
