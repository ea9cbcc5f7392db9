/* A dense layer over sequences with padding: what it leaves out changes nothing. */
#include "tap.h"

#include <math.h>
#include <stdlib.h>

#include "backend/machine.h"
#include "base/mem.h"

enum { IN = 7, OUT = 40, WEIGHTS = IN * OUT };

static struct machine *open_with(const char *blas)
{
    struct err e = {0};
    struct machine_options o = {.backend = "cpu", .blas = strcmp(blas, "always") == 0};
    setenv("DNN_BLAS", blas, 1);
    if (o.blas)
        blas_prepare(1, BLAS_AUTO);
    return machine_open(&o, &e);
}

/* The ways of a dense layer over 120 sequences of 5 steps, with and without the lengths given. dy
 * is 0 in padding, whatever x is. */
struct padded {
    real x[600 * IN], y[600 * OUT], dy[600 * OUT], dx[600 * IN], w[WEIGHTS], b[OUT];
    real dw[2 * WEIGHTS], db[2 * WEIGHTS]; /* of two shards */
};

static void run_padded(struct machine *m, struct padded *l, const int32_t *length, bool given)
{
    struct dims d = {.rows = 120, .steps = 5, .width = IN, .shards = 2, .shard_stride = WEIGHTS};
    struct padding padding = {given ? length : NULL, 5, 0};
    for (int i = 0; i < 600 * IN; i++) {
        l->x[i] = (real)(i * 5 % 13) / 8 - (real)0.75;
        l->dx[i] = 77;
    }
    for (int i = 0; i < 600 * OUT; i++)
        l->dy[i] = i / OUT % 5 < length[i / OUT / 5] ? (real)(i * 7 % 11) / 8 - (real)0.5 : 0;
    for (int i = 0; i < WEIGHTS; i++)
        l->w[i] = (real)(i % 3) - 1;
    for (int i = 0; i < 2 * WEIGHTS; i++)
        l->dw[i] = l->db[i] = 77;
    op_dense(m, &(struct op_dense){.dims = d, .y = {.at = l->y}, .x = {.at = l->x}, .w = l->w,
                                   .b = l->b, .out = OUT, .ldx = IN, .ldy = OUT, .exact = 1,
                                   .padding = padding});
    op_dense_back(m, &(struct op_dense_back){.dims = d, .dw = l->dw, .db = l->db,
                                             .dx = {.at = l->dx}, .dy = {.at = l->dy},
                                             .x = {.at = l->x}, .w = l->w, .out = OUT, .ldx = IN,
                                             .lddx = IN, .ldy = OUT, .lddy = OUT,
                                             .padding = padding});
}

/* Answers and gradients of the steps are those of an operation that computes padding too; padding
 * becomes 0. In the second shard nothing but padding: its gradients are 0. */
static void check(const char *blas)
{
    struct machine *m = open_with(blas);
    struct padded *a = mem_zero(1, sizeof *a), *b = mem_zero(1, sizeof *b);
    int32_t length[120];
    for (int i = 0; i < 120; i++)
        length[i] = i < 59 ? i * 7 % 6 : 0;
    for (int i = 0; i < OUT; i++)
        a->b[i] = b->b[i] = (real)i / 4;
    run_padded(m, a, length, false);
    run_padded(m, b, length, true);
    bool steps_same = true, padding_zero = true, gradients_same = true, none = true;
    for (int i = 0; i < 600; i++) {
        const real *y = b->y + (size_t)i * OUT, *dx = b->dx + (size_t)i * IN;
        if (i % 5 < length[i / 5]) {
            steps_same &= memcmp(y, a->y + (size_t)i * OUT, OUT * sizeof *y) == 0;
            for (int k = 0; k < IN; k++)
                gradients_same &= fabs((double)dx[k] - (double)a->dx[i * IN + k]) < 1e-5;
            continue;
        }
        for (int k = 0; k < OUT; k++)
            padding_zero &= fabs((double)y[k]) <= 0;
        for (int k = 0; k < IN; k++)
            padding_zero &= fabs((double)dx[k]) <= 0;
    }
    for (int i = 0; i < WEIGHTS; i++) {
        gradients_same &= fabs((double)a->dw[i] - (double)b->dw[i]) < 1e-4;
        none &= fabs((double)b->dw[WEIGHTS + i]) <= 0;
    }
    for (int i = 0; i < OUT; i++) {
        gradients_same &= fabs((double)a->db[i] - (double)b->db[i]) < 1e-4;
        none &= fabs((double)b->db[WEIGHTS + i]) <= 0;
    }
    ok(steps_same, "%s: answers of steps have the same bits", blas);
    ok(padding_zero, "%s: padding becomes 0, in answers and in gradients", blas);
    ok(gradients_same, "%s: the gradients are the same", blas);
    ok(none, "%s: a shard of padding alone has gradients of 0", blas);
    mem_free(a);
    mem_free(b);
    machine_close(m);
}

int main(void)
{
    check("none");
    check("always");
    return done();
}
