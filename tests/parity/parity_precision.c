/* parity_precision.c - large products of a training in fp32, tf32, bf16 and fp16: against the exact
 * sums, no further from them than twice what rounding the inputs alone makes, or, where nothing is
 * rounded (fp32, operands that are kept in 16 bits), than sums in fp32 may be; with tiny gradients
 * scaled into fp16's range; and twice, bit for bit. */
#include <math.h>
#include <string.h>

#include "backend/form.h"
#include "base/mem.h"
#include "parity.h"

/* Significant bits, the least exponent, and where halves go. form: operands are kept in that; what
 * comes of them too where it is `all`, if a training keeps it so. */
struct rounding {
    const char *name, *precision;
    int digits, least;
    bool away;
    uint32_t form;
    bool all;
};
enum { EXACT = 24 };
static const struct rounding kinds[] = {{"fp32", "fp32", EXACT, -126, false, FORM_REAL, false},
                                        {"tf32", "tf32", 11, -126, true, FORM_REAL, false},
                                        {"bf16", "bf16", 8, -126, false, FORM_REAL, false},
                                        {"fp16", "fp16", 11, -14, false, FORM_REAL, false},
                                        {"bf16 kept", "bf16", 8, -126, false, FORM_BF16, false},
                                        {"fp16 kept", "fp16", 11, -14, false, FORM_FP16, false},
                                        {"bf16 all kept", "bf16", 8, -126, false, FORM_BF16, true},
                                        {"fp16 all kept", "fp16", 11, -14, false, FORM_FP16, true}};
/* Large on a card, and on the emulated one, which takes less. The third of a card has the tiles
 * that are read by four, the last those that are read by eight, and the large ones of fp32. */
enum { SHAPES = 4 };
struct shape { uint32_t rows, in, out; };
static const struct shape large[SHAPES] =
    {{1031, 517, 131}, {4099, 28, 515}, {4100, 516, 260}, {8200, 520, 520}},
    small[SHAPES] = {{70, 37, 33}, {131, 28, 65}, {64, 33, 40}, {136, 40, 72}};
/* The smallest that have each tile, on any card, for those who wait long for them: of fp32 128 x 64
 * for y, dx and dw, and 64 x 64; of tensor cores 64 x 64, and 128 x 128 for y and dx, for dw. */
static const struct shape least_fp32[SHAPES] =
    {{33000, 19, 131}, {33000, 131, 19}, {19, 2053, 2051}, {1031, 183, 181}},
    least_tensor[SHAPES] = {{8195, 65, 67}, {1031, 183, 181}, {8072, 72, 72}, {1032, 136, 248}};
static const double GATE = 2, TINY = 0x1p-20;

/* Of the largest sum, where nothing was rounded, or the sum alone. */
static double gate_of(const struct rounding *k, bool back)
{
    bool sums = k->digits == EXACT || k->form;
    return !sums ? GATE : back ? 1e-4 : 1e-5;
}

/* From x to the next. */
static double unit_of(const struct rounding *k, double x)
{
    int e = ilogb(x);
    return ldexp(1, (e > k->least ? e : k->least) - k->digits + 1);
}

static double rounded(const struct rounding *k, double x)
{
    if (x == 0)
        return 0;
    double unit = unit_of(k, x);
    return unit * (k->away ? round(x / unit) : nearbyint(x / unit));
}

/* An operand on the device, exact here, and rounded. */
struct operand { void *device; double *exact, *near; };
static uint64_t stream;

static struct operand operand(struct machine *m, const struct rounding *k, size_t n, double size,
                              double scale)
{
    struct err e = {0};
    struct operand o = {machine_alloc(m, n * sizeof(float), &e), mem_alloc(n, sizeof(double)),
                        mem_alloc(n, sizeof(double))};
    float *host = mem_alloc(n, sizeof *host);
    uint16_t *bits = mem_zero(n, sizeof *bits);
    for (size_t i = 0; i < n; i++) {
        stream = stream * 6364136223846793005u + 1442695040888963407u;
        host[i] = (float)(((double)(stream >> 40) / 0x1p23 - 1) * size);
        if (k->form) {
            bits[i] = form_narrow(k->form, host[i]);
            host[i] = form_widen(k->form, bits[i]);
        }
        o.exact[i] = (double)host[i];
        o.near[i] = rounded(k, o.exact[i] * scale) / scale;
    }
    if (o.device)
        machine_upload(m, o.device, k->form ? (void *)bits : host,
                       n * (k->form ? sizeof *bits : sizeof *host));
    mem_free(bits);
    mem_free(host);
    return o;
}
static struct act formed(void *memory, uint32_t form)
{
    return (struct act){.at = memory, .form = form};
}
static struct act act_of(const struct operand *o, uint32_t form)
{
    return formed(o->device, form);
}
static void operand_free(struct machine *m, struct operand *o)
{
    machine_release(m, o->device);
    mem_free(o->exact);
    mem_free(o->near);
}

/* Element (i, j) of the first is at i * step + k * along, of the second at j * step + k * along. */
struct side { const struct operand *of; size_t step, along; };

static double looked_at = 5e7; /* multiply-adds of a product that are done again here */

/* How much further `got` is from the exact sums than those of rounded inputs are, or of the largest
 * sum where none was rounded; of many rows some, with the last. kept: the sum was rounded itself,
 * once, by half a unit at most. */
static double times_worse(const float *got, struct side a, struct side b, uint32_t m, uint32_t n,
                          uint32_t count, bool sums, const struct rounding *kept)
{
    double worst = 0, most = 0;
    uint32_t skip = 1 + (uint32_t)((double)m * n * count / looked_at);
    for (uint32_t i = (m - 1) % skip; i < m; i += skip)
        for (uint32_t j = 0; j < n; j++) {
            double exact = 0, near = 0;
            for (uint32_t k = 0; k < count; k++) {
                size_t x = i * a.step + k * a.along, y = j * b.step + k * b.along;
                exact += a.of->exact[x] * b.of->exact[y];
                near += a.of->near[x] * b.of->near[y];
            }
            double error = fabs((double)got[(size_t)i * n + j] - exact);
            error -= kept ? unit_of(kept, exact) / 2 : 0;
            worst = error <= worst ? worst : error; /* not a number comes through */
            most = fmax(most, sums ? fabs(exact) : fabs(near - exact));
        }
    return most > 0 ? worst / most : (double)INFINITY;
}

struct results { float *y, *dx, *dw, *db; uint32_t form_y, form_dx; };

/* One layer forward and back; shards are summed. */
#define OF(of_rows) .rows = (of_rows), .steps = 1, .shards = plan_shards(of_rows)
static struct results layer(struct machine *m, const struct shape *s, const struct operand *x,
                            const struct operand *w, const struct operand *dy, double scale,
                            const struct rounding *k)
{
    struct err e = {0};
    size_t ys = (size_t)s->rows * s->out, xs = (size_t)s->rows * s->in, ws = (size_t)s->in * s->out;
    uint32_t shards = plan_shards(s->rows);
    size_t stride = ws + s->out;
    uint32_t form = k->form;
    struct results r = {mem_zero(ys, sizeof *r.y), mem_zero(xs, sizeof *r.dx),
                        mem_zero(stride, sizeof *r.dw), NULL,
                        k->all ? machine_act_form(m, s->rows, s->out, false) : FORM_REAL,
                        k->all ? machine_act_form(m, s->rows, s->in, true) : FORM_REAL};
    struct act to_y, to_dx;
    float *y = machine_alloc(m, ys * sizeof *y, &e), *dx = machine_alloc(m, xs * sizeof *dx, &e);
    float *dw = machine_alloc(m, shards * stride * sizeof *dw, &e);
    float *host = mem_zero(stride, sizeof *host);
    struct step now = {.scale = scale > 1 ? scale : 0}, *at = machine_alloc(m, sizeof now, &e);
    float *plain = machine_alloc(m, ws * sizeof *plain, &e); /* the weight, where `w` is a copy */
    if (y && dx && dw && at && plain) {
        struct act shadow = form ? act_of(w, form) : no_act();
        real *weight = form ? plain : w->device;
        machine_upload(m, at, &now, sizeof now);
        for (size_t i = 0; i < ws; i++)
            r.dw[i] = (float)w->exact[i];
        machine_upload(m, plain, r.dw, ws * sizeof *plain);
        machine_wait(m, 30, &e);
        to_y = formed(y, r.form_y);
        to_dx = formed(dx, r.form_dx);
        memset(r.dw, 0, ws * sizeof *r.dw);
        op_dense(m, &(struct op_dense){.y = to_y, .x = act_of(x, form), .w = weight,
                                       .shadow = shadow, OF(s->rows), .in = s->in,
                                       .out = s->out, .ldx = s->in, .ldy = s->out});
        op_dense_back(m, &(struct op_dense_back){
            .dx = to_dx, .dw = (real *)dw, .db = (real *)dw + ws,
            .dy = act_of(dy, form), .x = act_of(x, form), .w = weight, .shadow = shadow,
            .now = form ? NULL : at, .shard_stride = stride, OF(s->rows), .in = s->in,
            .out = s->out, .ldx = s->in, .lddx = s->in, .lddy = s->out});
        machine_act_download(m, r.y, to_y, s->rows, s->out, s->out);
        machine_act_download(m, r.dx, to_dx, s->rows, s->in, s->in);
        for (uint32_t i = 0; i < shards; i++) {
            machine_download(m, host, dw + i * stride, stride * sizeof *host);
            for (size_t n = 0; n < stride; n++)
                r.dw[n] += host[n];
        }
    }
    void *const blocks[] = {y, dx, dw, at, plain};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        machine_release(m, blocks[i]);
    mem_free(host);
    r.db = r.dw + ws;
    return r;
}
static void results_free(struct results *r)
{
    mem_free(r->y);
    mem_free(r->dx);
    mem_free(r->dw);
}

/* The bias's gradient is not rounded: the furthest, of what was summed. */
static double bias_error(const struct results *r, const struct operand *dy, const struct shape *s)
{
    double worst = 0;
    for (uint32_t j = 0; j < s->out; j++) {
        double sum = 0, all = 0;
        for (uint32_t i = 0; i < s->rows; i++) {
            sum += dy->exact[(size_t)i * s->out + j];
            all += fabs(dy->exact[(size_t)i * s->out + j]);
        }
        double error = fabs((double)r->db[j] - sum) / all;
        worst = error <= worst ? worst : error;
    }
    return worst;
}

static void compare(struct parity *p, struct machine *m, const struct rounding *k,
                    const struct shape *s, double size, double scale)
{
    size_t ys = (size_t)s->rows * s->out, xs = (size_t)s->rows * s->in, ws = (size_t)s->in * s->out;
    struct operand x = operand(m, k, xs, 1, 1), w = operand(m, k, ws, 1, 1);
    struct operand dy = operand(m, k, ys, size, scale);
    struct results r = layer(m, s, &x, &w, &dy, scale, k);
    struct results again = layer(m, s, &x, &w, &dy, scale, k);
    bool sums = k->digits == EXACT || k->form;
    const double worse[] = {
        times_worse(r.y, (struct side){&x, s->in, 1}, (struct side){&w, 1, s->out}, s->rows, s->out,
                    s->in, sums, r.form_y ? k : NULL),
        times_worse(r.dx, (struct side){&dy, s->out, 1}, (struct side){&w, s->out, 1}, s->rows,
                    s->in, s->out, sums, r.form_dx ? k : NULL),
        times_worse(r.dw, (struct side){&x, 1, s->in}, (struct side){&dy, 1, s->out}, s->in, s->out,
                    s->rows, sums, NULL)};
    static const char *const what[] = {"forward", "input gradient", "weight gradient"};
    char name[120];
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s %u x %u x %u%s: %s", k->name, s->rows, s->in, s->out,
                 scale > 1 ? ", scaled" : "", what[i]);
        double gate = gate_of(k, i > 0);
        parity_result(p, name, worse[i], gate, worse[i] <= gate ? "" : "further than rounding");
    }
    double bias = bias_error(&r, &dy, s);
    snprintf(name, sizeof name, "%s %u x %u x %u: bias gradient", k->name, s->rows, s->in, s->out);
    parity_result(p, name, bias, 1e-6, bias <= 1e-6 ? "" : "far from the sums");
    snprintf(name, sizeof name, "%s %u x %u x %u: twice", k->name, s->rows, s->in, s->out);
    bool same = memcmp(r.y, again.y, ys * sizeof *r.y) == 0 &&
                memcmp(r.dx, again.dx, xs * sizeof *r.dx) == 0 &&
                memcmp(r.dw, again.dw, (ws + s->out) * sizeof *r.dw) == 0;
    parity_result(p, name, 0, 0, same ? "" : "other bits");
    results_free(&r);
    results_free(&again);
    operand_free(m, &x);
    operand_free(m, &w);
    operand_free(m, &dy);
}

/* Those of a card that is emulated, or that waits long; else all of them. */
static void compare_shapes(struct parity *p, struct machine *m, const struct rounding *k,
                           bool emulated)
{
    const struct shape *least = k->digits == EXACT ? least_fp32 : least_tensor;
    for (int i = 0; i < SHAPES && !p->least; i++)
        if (!k->form || i == SHAPES - 1) /* what is kept lies in rows of eights */
            compare(p, m, k, emulated ? &small[i] : &large[i], 1, 1);
    for (int i = 0; i < SHAPES && (p->least || !emulated); i++)
        if (!k->form || least[i].in % 8 == 0)
            compare(p, m, k, &least[i], 1, 1);
}

void parity_precisions(struct parity *p, const char *backend)
{
    looked_at = p->least ? 5e6 : looked_at;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct rounding *k = &kinds[i];
        struct err e = {0};
        struct plan plan;
        if (p->only ? strcmp(p->only, k->name) != 0 : p->least && k->all)
            continue; /* those of --least are for who waits long */
        struct machine *m = machine_open(
            &(struct machine_options){.backend = backend, .precision = k->precision}, &e);
        if (!m) {
            parity_result(p, k->name, (double)INFINITY, GATE, "the device does not open");
            continue;
        }
        machine_plan(m, 256, 1, &plan);
        bool emulated = strcmp(plan.core, "emulated") == 0;
        bool has = strcmp(plan.precision, k->precision) == 0;
        if (has)
            compare_shapes(p, m, k, emulated);
        if (has && strcmp(k->name, "fp16") == 0)
            compare(p, m, k, emulated ? &small[0] : &large[0], TINY, SCALE_FIRST);
        p->left_out += !has;
        if (!machine_wait(m, 30, &e))
            parity_result(p, k->name, (double)INFINITY, GATE, "the device has failed");
        machine_close(m);
    }
}
