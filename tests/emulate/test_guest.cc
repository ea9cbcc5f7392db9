/* What guests leave to us: the end of a product by a kernel of its own has the bits of the same end
 * in our product, in every order. */
#include "guest.cuh"
#include "form.cuh"
#include "harness.h"

struct end { const char *name; bool bias, z, by, hot; uint32_t act; };
static const struct end ends[] = {
    {"bias, relu", true, false, false, false, ACT_RELU},
    {"bias, gelu, z kept", true, true, false, false, ACT_GELU},
    {"tanh", false, false, false, false, ACT_TANH},
    {"one-hot inputs", true, false, false, true, ACT_NONE},
    {"a derivative", false, false, true, false, ACT_SILU},
};
enum { ROWS = 37, IN = 20, OUT = 45, LD = 52 };

static struct hot_inputs hot_inputs_of()
{
    static const struct onehot_column column = {0, IN, 3};
    int32_t ids[ROWS];
    for (int i = 0; i < ROWS; i++)
        ids[i] = i % 5 - 1; /* some of no category */
    struct hot_inputs hot = {};
    hot.ids = device_array(ids, ROWS);
    hot.columns = device_array(&column, 1);
    hot.ids_ld = hot.column_count = 1;
    hot.width = 3;
    return hot;
}

static struct gemm plain_gemm()
{
    struct gemm g = {};
    g.c = plain_act(device_empty<float>(ROWS * LD));
    g.a = plain_act(device_numbers(1, ROWS * IN, NULL));
    g.b = plain_act(device_numbers(2, (IN + 3) * OUT, NULL));
    g.m = ROWS;
    g.n = OUT;
    g.k = IN;
    g.parts = 1;
    g.a_row = IN;
    g.a_col = g.b_col = 1;
    g.b_row = OUT;
    g.c_row = LD;
    return g;
}

static bool same_rows(struct act x, struct act y, uint32_t ld)
{
    const float *a = (const float *)x.at, *b = (const float *)y.at;
    bool same = true;
    for (int r = 0; r < ROWS; r++)
        same = same && memcmp(a + r * ld, b + r * ld, OUT * sizeof *a) == 0;
    return same;
}

static void test_end(const struct end *e)
{
    bool same = true;
    for (EACH_ORDER(order)) {
        struct gemm plain = plain_gemm(), g = plain;
        g.bias = e->bias ? device_numbers(3, OUT, NULL) : NULL;
        g.z = e->z ? plain_act(device_empty<float>(ROWS * OUT)) : no_act();
        g.z_row = OUT;
        g.by = e->by ? plain_act(device_numbers(4, ROWS * OUT, NULL)) : no_act();
        g.by_row = OUT;
        g.act = e->act;
        if (e->hot) {
            g.hot = hot_inputs_of();
            g.hot_b = (const float *)g.b.at;
        }
        struct gemm whole = g;
        whole.c = plain_act(device_empty<float>(ROWS * LD));
        whole.z = e->z ? plain_act(device_empty<float>(ROWS * OUT)) : no_act();
        gemm_simt(NULL, &whole);
        gemm_simt(NULL, &plain); /* as a guest leaves it */
        guest_finish(NULL, &g);
        same = same && same_rows(g.c, whole.c, LD) && (!e->z || same_rows(g.z, whole.z, OUT));
        unsigned found = emulate_findings();
        ok(found == 0, "%s: nothing found in order %u", e->name, order);
        device_drop_all();
    }
    ok(same, "%s: the bits of our own product's end", e->name);
}

int main(void)
{
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        test_end(&ends[i]);
    return done();
}
