/* cpu_conv.c - convolution over the steps of sequences, and random convolution features. Each tap
 * of the kernel is a product of all steps of a sequence whose partner is inside; nothing is copied.
 */
#include <assert.h>
#include <string.h>

#include "backend/cpu/cpu.h"

/* The steps [begin, end) of y whose tap falls on one of the first `length` steps of x, and the step
 * of x that the first of them meets. */
struct reach { uint32_t begin, end, from; };
static struct reach reach_of(const struct convolution *c, uint32_t tap, uint32_t length,
                             uint32_t out)
{
    int64_t shift = (int64_t)tap * c->dilation - c->before, stride = c->stride;
    int64_t begin = shift < 0 ? (-shift + stride - 1) / stride : 0;
    int64_t end = length > shift ? (length - shift + stride - 1) / stride : 0;
    end = end < out ? end : out;
    if (begin >= end)
        return (struct reach){0};
    return (struct reach){(uint32_t)begin, (uint32_t)end, (uint32_t)(begin * stride + shift)};
}

static uint32_t out_length(const struct convolution *c, int32_t length)
{
    return ((uint32_t)length + c->stride - 1) / c->stride;
}

/* --- in bf16: a tap is a shift of the packed steps, with zeros around them, so that all taps are
 * one chain of sums --- */

/* Packs one sequence between `zeros` zero steps on each side. The last tile of a product may reach
 * further, in rows that are not kept. */
static uint16_t *pack_steps(uint16_t *to, const real *x, uint32_t length, uint32_t zeros,
                            uint32_t width)
{
    const size_t depth = bf16_depth(width);
    memset(to, 0, zeros * depth * sizeof *to);
    cpu_bf16_rows(to + zeros * depth, x, length, width, width, false);
    memset(to + ((size_t)zeros + length) * depth, 0, zeros * depth * sizeof *to);
    return to + zeros * depth;
}

/* Zero padding on each side, enough for every tap of both passes. */
static uint32_t zeros_around(const struct convolution *c)
{
    return (c->kernel - 1) * c->dilation + 1;
}

/* Columns whose weights of all taps fit the scratch beside the packed steps, `most` at the most; 0:
 * not one tile of them. */
static uint32_t columns_of(const struct convolution *c, uint32_t steps, uint32_t in, uint32_t most)
{
    size_t depth = bf16_depth(in), one = depth * c->kernel * sizeof(uint16_t);
    size_t room = CPU_SCRATCH,
           rows = steps + 2 * (size_t)zeros_around(c) + (size_t)BF16_TILE * c->stride,
           taken = rows * depth * sizeof(uint16_t);
    size_t columns = taken < room ? (room - taken) / one / BF16_TILE * BF16_TILE : 0;
    return columns < most ? (uint32_t)columns : most;
}

static const struct bf16_code *conv_code(const struct convolution *c, const struct slice *s,
                                         uint32_t steps, uint32_t in, bool back)
{
    uint32_t from = back ? c->out : in, to = back ? in : c->out;
    bool fits = columns_of(c, steps, from, BF16_TILE) == BF16_TILE;
    return fits && from <= CPU_BF16_DEPTH && (!back || c->stride == 1) ? cpu_bf16(s->m, from, to)
                                                                       : NULL;
}

/* y = bias + the products of all taps with x; back: x is dy, y is dx, and there is no bias. */
struct tap_sum {
    const struct convolution *c;
    const real *x, *w, *bias;
    real *y;
    const int32_t *length;
    uint32_t x_steps, x_width, y_steps, y_width;
    bool back, add;
};

static void taps_bf16(const struct bf16_code *code, const struct tap_sum *t, const struct slice *s)
{
    const struct convolution *c = t->c;
    const uint32_t depth = bf16_depth(t->x_width),
                   most = columns_of(c, t->x_steps, t->x_width, t->y_width),
                   stride = t->back ? 1 : c->stride;
    const ptrdiff_t first = t->back ? (ptrdiff_t)c->before : -(ptrdiff_t)c->before,
                    next = t->back ? -(ptrdiff_t)c->dilation : (ptrdiff_t)c->dilation;
    uint16_t *b = s->scratch;
    for (uint32_t j = 0; j < t->y_width; j += most) {
        uint32_t n = t->y_width - j < most ? t->y_width - j : most;
        size_t tap = cpu_bf16_bytes(t->x_width, n) / sizeof *b;
        const real *w = t->w + (t->back ? (size_t)j * c->out : j);
        for (uint32_t k = 0; k < c->kernel; k++)
            cpu_bf16_columns(b + k * tap, w + (size_t)k * t->x_width * t->y_width, t->x_width, n,
                             c->out, t->back);
        for (size_t row = s->row0; row < s->row0 + s->rows; row++) {
            uint32_t length = (uint32_t)t->length[row],
                     out = t->back ? length : out_length(c, t->length[row]);
            real *y = t->y + row * t->y_steps * t->y_width + j;
            const uint16_t *x = pack_steps(b + c->kernel * tap,
                                           t->x + row * t->x_steps * t->x_width, length,
                                           zeros_around(c), t->x_width);
            code->product(&(struct bf16_product){
                .c = y, .bias = t->bias ? t->bias + j : NULL, .a = x + first * depth, .b = b,
                .m = out, .n = n, .depth = depth, .lda = stride * depth, .ldc = t->y_width,
                .taps = c->kernel, .a_next = next * depth, .b_next = (ptrdiff_t)tap,
                .add = t->add});
            for (size_t at = out; at < t->y_steps && !t->add; at++)
                memset(y + at * t->y_width, 0, n * sizeof *y);
        }
    }
}

void cpu_conv(const struct op_conv *a, const struct slice *s)
{
    const struct convolution *c = &a->c;
    const struct bf16_code *code = a->exact ? NULL : conv_code(c, s, a->steps, a->in, false);
    if (code) {
        taps_bf16(code, &(struct tap_sum){
            .c = c, .x = act_read(a->x), .w = a->w, .bias = a->b, .y = act_real(a->y),
            .length = a->length, .x_steps = a->steps, .x_width = a->in, .y_steps = c->steps,
            .y_width = c->out}, s);
        return;
    }
    for (size_t row = s->row0; row < s->row0 + s->rows; row++) {
        const real *x = act_read(a->x) + row * a->steps * a->in;
        real *y = act_real(a->y) + row * c->steps * c->out;
        uint32_t length = (uint32_t)a->length[row], out = out_length(c, a->length[row]);
        for (size_t t = 0; t < c->steps; t++)
            if (t < out)
                memcpy(y + t * c->out, a->b, c->out * sizeof *y);
            else
                memset(y + t * c->out, 0, c->out * sizeof *y);
        for (uint32_t k = 0; k < c->kernel; k++) {
            struct reach r = reach_of(c, k, length, out);
            cpu_product(s->m->vec,
                        (struct product){.c = y + (size_t)r.begin * c->out,
                                         .a = x + (size_t)r.from * a->in,
                                         .rows = r.end - r.begin,
                                         .k = a->in,
                                         .lda = c->stride * a->in,
                                         .ldb = c->out,
                                         .ldc = c->out,
                                         .add = true},
                        c->out, a->w + (size_t)k * a->in * c->out);
        }
    }
}

/* Numbers of scratch: steps of dz at a time, and a part of a tap's weight, turned. */
enum { COPIED = 128, TURNED = 65536 };

/* dw of tap k (+=), of one sequence, `rows` steps of y from `at` on, and the `width` columns
 * that the copy of dz has. */
static void tap_outer(const struct op_conv_back *a, const struct slice *s, const real *x,
                      struct reach r, uint32_t at, uint32_t rows, real *dw, uint32_t width)
{
    const struct convolution *c = &a->c;
    uint32_t begin = r.begin > at ? r.begin : at, end = r.end < at + rows ? r.end : at + rows;
    if (begin >= end)
        return;
    struct outer o = {.c = dw,
                      .a = x + ((size_t)r.from + (size_t)(begin - r.begin) * c->stride) * a->in,
                      .b = (const real *)s->scratch + (size_t)(begin - at) * PANEL,
                      .rows = end - begin, .m = a->in, .width = width,
                      .lda = c->stride * a->in, .ldc = c->out, .add = true};
    (width <= NARROW ? s->m->vec->narrow_outer : s->m->vec->outer)(&o);
}

/* dw of all taps (+=), of one sequence and the columns from j on: dz is copied once for them. */
static void panel_outer(const struct op_conv_back *a, const struct slice *s, size_t row, uint32_t j,
                        uint32_t out)
{
    const struct convolution *c = &a->c;
    const real *x = act_read(a->x) + row * a->steps * a->in;
    const real *dz = act_read(a->dy) + row * c->steps * c->out + j;
    real *copy = s->scratch, *dw = a->dw + s->shard * a->shard_stride + j;
    uint32_t width = c->out - j < PANEL ? c->out - j : PANEL;
    for (uint32_t at = 0, rows; at < out; at += rows) {
        rows = out - at < COPIED ? out - at : COPIED;
        for (size_t i = 0; i < rows; i++) {
            memcpy(copy + i * PANEL, dz + (at + i) * c->out, width * sizeof *copy);
            memset(copy + i * PANEL + width, 0, (PANEL - width) * sizeof *copy);
        }
        for (uint32_t k = 0; k < c->kernel; k++)
            tap_outer(a, s, x, reach_of(c, k, (uint32_t)a->length[row], out), at, rows,
                      dw + (size_t)k * a->in * c->out, width);
    }
}

static void weights_back(const struct op_conv_back *a, const struct slice *s, size_t row)
{
    const struct convolution *c = &a->c;
    const real *dz = act_read(a->dy) + row * c->steps * c->out;
    uint32_t out = out_length(c, a->length[row]);
    real *db = a->db + s->shard * a->shard_stride;
    for (uint32_t t = 0; t < out; t++)
        s->m->vec->add(db, db, dz + (size_t)t * c->out, c->out);
    const struct bf16_code *code = cpu_bf16(s->m, a->in, c->out);
    for (uint32_t j = 0; j < c->out && !code; j += PANEL)
        panel_outer(a, s, row, j, out);
    for (uint32_t k = 0; k < c->kernel && code; k++) {
        struct reach r = reach_of(c, k, (uint32_t)a->length[row], out);
        cpu_bf16_product(code, &(struct blas_product){
            .c = a->dw + s->shard * a->shard_stride + (size_t)k * a->in * c->out,
            .a = act_read(a->x) + (row * a->steps + r.from) * a->in,
            .b = dz + (size_t)r.begin * c->out, .m = a->in, .n = c->out, .k = r.end - r.begin,
            .lda = c->stride * a->in, .ldb = c->out, .ldc = c->out, .a_across = true,
            .add = true}, NULL, NULL, s->scratch);
    }
}

/* dx += dz times rows [o, o + n) of tap k's transposed weight, for all sequences of the strip. */
static void tap_across(const struct op_conv_back *a, const struct slice *s, uint32_t k, uint32_t o,
                       uint32_t n, const real *turned)
{
    const struct convolution *c = &a->c;
    for (size_t row = s->row0; row < s->row0 + s->rows; row++) {
        struct reach r = reach_of(c, k, (uint32_t)a->length[row], out_length(c, a->length[row]));
        cpu_product(s->m->vec,
                    (struct product){
                        .c = act_real(a->dx) + (row * a->steps + r.from) * a->in,
                        .a = act_read(a->dy) + (row * c->steps + r.begin) * c->out + o,
                        .rows = r.end - r.begin,
                        .k = n,
                        .lda = c->out,
                        .ldb = a->in,
                        .ldc = c->stride * a->in,
                        .add = true},
                    a->in, turned);
    }
}

static void inputs_back(const struct op_conv_back *a, const struct slice *s)
{
    const struct convolution *c = &a->c;
    const size_t first = s->row0 * (size_t)a->steps * a->in;
    uint32_t part = TURNED / a->in;
    real *turned = s->scratch;
    assert(part > 0);
    if (!a->add_dx)
        memset(act_real(a->dx) + first, 0, (size_t)s->rows * a->steps * a->in * sizeof(real));
    for (uint32_t k = 0; k < c->kernel; k++)
        for (uint32_t o = 0; o < c->out; o += part) {
            uint32_t n = c->out - o < part ? c->out - o : part;
            s->m->vec->turn(turned, a->w + (size_t)k * a->in * c->out + o, a->in, n, c->out,
                            a->in);
            tap_across(a, s, k, o, n, turned);
        }
}

void cpu_conv_back(const struct op_conv_back *a, const struct slice *s)
{
    const struct convolution *c = &a->c;
    if (s->first && !a->more) {
        memset(a->dw + s->shard * a->shard_stride, 0,
               (size_t)c->kernel * a->in * c->out * sizeof *a->dw);
        memset(a->db + s->shard * a->shard_stride, 0, c->out * sizeof *a->db);
    }
    for (size_t row = s->row0; row < s->row0 + s->rows; row++)
        weights_back(a, s, row);
    const struct bf16_code *code = conv_code(c, s, c->steps, a->in, true);
    if (a->dx.at && code)
        taps_bf16(code, &(struct tap_sum){
            .c = c, .x = act_read(a->dy), .w = a->w, .y = act_real(a->dx), .length = a->length,
            .x_steps = c->steps, .x_width = c->out, .y_steps = a->steps, .y_width = a->in,
            .back = true, .add = a->add_dx != 0}, s);
    else if (a->dx.at)
        inputs_back(a, s);
}

/* --- random convolution features --- */

/* The sum of a group's channels, with `reach` zeros on both sides. */
static void rocket_sum(const struct op_rocket *a, const real *x, const real *channels,
                       uint32_t length, size_t reach, real *sum)
{
    memset(sum, 0, (length + 2 * reach) * sizeof *sum);
    for (int c = 0; c < ROCKET_CHANNELS && channels[c] >= 0; c++)
        for (size_t t = 0; t < length; t++)
            sum[reach + t] += x[t * a->width + (size_t)channels[c]];
}

static void rocket_row(const struct op_rocket *a, const struct slice *s, size_t row)
{
    const struct rocket *of = &a->of;
    const real *x = act_read(a->x) + row * a->steps * a->width;
    const uint32_t length = (uint32_t)a->length[row];
    real *y = act_real(a->y) + row * ROCKET_FEATURES(of), *answers = s->scratch;
    real *sum = answers + a->steps;
    for (uint32_t g = 0; g < of->dilations * ROCKET_KERNELS; g++) {
        uint32_t d = of->dilation[g / ROCKET_KERNELS], k = g % ROCKET_KERNELS;
        size_t reach = (size_t)d * (ROCKET_TAPS / 2), n = length;
        const real *from = answers;
        rocket_sum(a, x, of->channels + (size_t)g * ROCKET_CHANNELS, length, reach, sum);
        s->m->vec->rocket_taps(answers, sum, n, d, of->three + 4 * (size_t)k);
        if (!rocket_padded(k, d, length)) {
            from += reach;
            n -= 2 * reach;
        }
        for (uint32_t b = 0; b < of->each; b++) {
            size_t f = (size_t)g * of->each + b;
            y[f] = n ? (real)s->m->vec->rocket_above(from, n, of->bias[f]) / (real)n : 0;
        }
    }
}

void cpu_rocket(const struct op_rocket *a, const struct slice *s)
{
    for (size_t row = s->row0; row < s->row0 + s->rows; row++)
        rocket_row(a, s, row);
}
