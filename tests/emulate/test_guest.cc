/* What guests leave to us: the end of a product by a kernel of its own has the bits of the same end
 * in our product, in every order; and the rules by which they serve, as table, list and plan. */
#include "guest.cuh"
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

static bool finds(const char *list, enum guest_id id, const char *precision, uint32_t side,
                  uint64_t work)
{
    struct guest_rule r;
    setenv("DNN_GUESTS", list, 1);
    bool found = guest_rule_find(id, "sm_90", precision, &r);
    return side ? found && r.side == side && r.work == work && !r.timed : !found;
}

static void test_rules()
{
    static const char list[] = "cuBLASLt:fp32:16:4096,cuDNN:bf16:8:77,cuBLASLt:bf16:64:1000000";
    struct guest_rule r = {64, 5000000000, false}, read;
    char plan[96] = "";
    ok(finds("always", GUEST_CUBLASLT, "fp16", 1, 1) && guest_rule_always(), "always: everything");
    ok(finds("none", GUEST_CUBLASLT, "fp32", 0, 0) && !guest_rule_always(), "none: nothing");
    ok(finds(list, GUEST_CUBLASLT, "fp32", 16, 4096), "the first of a list");
    ok(finds(list, GUEST_CUBLASLT, "bf16", 64, 1000000), "another precision");
    ok(finds(list, GUEST_CUDNN, "bf16", 8, 77), "another library");
    ok(finds(list, GUEST_CUDNN, "fp32", 0, 0), "what is not named does not serve");
    ok(finds("cuBLASLt:fp32:x", GUEST_CUBLASLT, "fp32", 0, 0), "what is no rule is none");
    unsetenv("DNN_GUESTS");
    guest_rule_write(GUEST_CUBLASLT, 130100, &r, plan, sizeof plan);
    r.timed = true;
    guest_rule_write(GUEST_CUDNN, 91900, &r, plan, sizeof plan);
    ok(strcmp(plan, "cuBLASLt 13.1.0 from 64 and 5000000000; cuDNN 9.19.0 timed") == 0,
       "as a plan keeps them: %s", plan);
    ok(guest_rule_read(plan, GUEST_CUBLASLT, 130100, &read) && read.side == 64 &&
           read.work == 5000000000 && !read.timed, "and gives them back");
    ok(guest_rule_read(plan, GUEST_CUDNN, 91900, &read) && read.timed, "timed as well");
    ok(!guest_rule_read(plan, GUEST_CUDNN, 91901, &read), "not to another version");
    ok(!guest_rule_read("", GUEST_CUBLASLT, 130100, &read), "nor out of nothing");
}

int main(void)
{
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        test_end(&ends[i]);
    test_rules();
    return done();
}
