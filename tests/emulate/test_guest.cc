/* What guests leave to us: the end of a product by a kernel of its own has the bits of the same end
 * in our product, in every order; and weights and steps of recurrent layers between our layout and
 * cuDNN's. */
#include "product/guest.cuh"
#include "form.cuh"
#include "harness.h"
#include "ops/recur_guest.cuh"

struct end { const char *name; bool bias, z, by, onehot; uint32_t act; };
static const struct end ends[] = {
    {"bias, relu", true, false, false, false, ACT_RELU},
    {"bias, gelu, z kept", true, true, false, false, ACT_GELU},
    {"tanh", false, false, false, false, ACT_TANH},
    {"one-hot inputs", true, false, false, true, ACT_NONE},
    {"a derivative", false, false, true, false, ACT_SILU},
};
enum { ROWS = 37, IN = 20, OUT = 45, LD = 52 };

static struct onehot_inputs onehot_inputs_of()
{
    static const struct onehot_column column = {0, IN, 3};
    int32_t ids[ROWS];
    for (int i = 0; i < ROWS; i++)
        ids[i] = i % 5 - 1; /* some of no category */
    struct onehot_inputs onehot = {};
    onehot.ids = device_array(ids, ROWS);
    onehot.columns = device_array(&column, 1);
    onehot.ids_ld = onehot.column_count = 1;
    onehot.width = 3;
    return onehot;
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
        if (e->onehot) {
            g.onehot = onehot_inputs_of();
            g.onehot_b = (const float *)g.b.at;
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

/* --- recurrent layers --- */

enum { INPUTS = 5, UNITS = 3, BATCH = 300, SHARDS = 3, STRIDE = 200, MOST = 4 * UNITS };

/* Gates of our columns in cuDNN's numbering, of x and of h'. */
static const uint32_t parts_of[2][2][4] = {{{0, 1, 2, 3}, {4, 5, 6, 7}}, {{2, 0, 1}, {3, 4, 5}}};

static uint64_t weights_end(const struct recur_weights &w)
{
    return 11 + 8 * 20 + 8 * UNITS + w.kind;
}
static struct recur_weights weights_for(uint32_t kind)
{
    struct recur_weights w = {};
    w.kind = kind;
    w.in = INPUTS;
    w.units = UNITS;
    w.rows = BATCH;
    w.steps = 9;
    w.shards = SHARDS;
    w.shard_stride = STRIDE;
    for (uint32_t i = 0; i < RECUR_PARTS; i++) { /* from the last, not side by side */
        w.at.matrix[i] = 11 + (7 - i) * 20;
        w.at.bias[i] = 11 + 8 * 20 + i * UNITS;
    }
    w.numbers = weights_end(w);
    w.lengths = device_empty<int32_t>(BATCH);
    return w;
}

/* Every number of ours has its place: a matrix there is [unit][input]. */
static bool same_weights(const struct recur_weights &w, uint32_t shard, bool twice)
{
    uint32_t columns = RECUR_COLUMNS(w.kind) * UNITS;
    bool same = true;
    for (uint32_t h = 0; h < 2; h++)
        for (uint32_t c = 0; c < columns; c++) {
            uint32_t part = parts_of[w.kind][h][c / UNITS], unit = c % UNITS;
            uint32_t width = h ? UNITS : INPUTS;
            const float *ours = (h ? w.u : w.w) + shard * STRIDE, *bias = h ? w.u_b : w.b;
            for (uint32_t i = 0; i < width; i++) {
                float there = w.theirs[w.at.matrix[part] + unit * width + i];
                same = same && ours[i * columns + c] == (shard ? 0 : twice ? 2 * there : there);
            }
            float there = w.theirs[w.at.bias[part] + unit];
            if (bias)
                same = same && bias[shard * STRIDE + c] ==
                                   (shard ? 0 : twice ? 2 * there : there);
        }
    return same;
}

static void test_weights(uint32_t kind)
{
    const char *name = kind == RECUR_GRU ? "gru" : "lstm";
    bool there = true, back = true, cleared = true;
    for (EACH_ORDER(order)) {
        struct recur_weights w = weights_for(kind);
        w.w = device_numbers(1, INPUTS * MOST, NULL);
        w.b = device_numbers(2, MOST, NULL);
        w.u = device_numbers(3, UNITS * MOST, NULL);
        w.u_b = kind == RECUR_GRU ? device_numbers(4, MOST, NULL) : NULL;
        w.theirs = device_empty<float>(w.numbers);
        w.cleared = device_empty<float>(w.numbers);
        recur_pack(NULL, &w);
        there = there && same_weights(w, 0, false);
        for (uint64_t i = 0; i < w.numbers; i++)
            cleared = cleared && w.cleared[i] == 0;
        for (uint32_t i = 0; i < BATCH; i++)
            cleared = cleared && w.lengths[i] == 9;
        w.theirs = device_numbers(5, w.numbers, NULL);
        w.w = device_empty<float>(SHARDS * STRIDE);
        w.b = device_empty<float>(SHARDS * STRIDE);
        w.u = device_empty<float>(SHARDS * STRIDE);
        w.u_b = kind == RECUR_GRU ? device_empty<float>(SHARDS * STRIDE) : NULL;
        recur_unpack(NULL, &w);
        for (uint32_t s = 0; s < SHARDS; s++)
            back = back && same_weights(w, s, false);
        w.more = 1;
        recur_unpack(NULL, &w);
        for (uint32_t s = 0; s < SHARDS; s++)
            back = back && same_weights(w, s, true);
        ok(emulate_findings() == 0, "%s: nothing found in order %u", name, order);
        device_drop_all();
    }
    ok(there && cleared, "%s: the weights as cuDNN has them", name);
    ok(back, "%s: its gradients as we have them: in the first shard, and added to what is there",
       name);
}

static void test_steps(bool reverse, uint32_t form)
{
    enum { R = 7, T = 6, W = 5, FROM = 2, WIDE = 8 };
    int32_t length[R];
    bool over = true, back = true;
    for (int32_t r = 0; r < R; r++)
        length[r] = r % (T + 1);
    for (EACH_ORDER(order)) {
        struct recur_steps a = {};
        float *theirs, *plain = device_numbers(1, R * T * WIDE, NULL);
        void *half = device_empty<uint16_t>(R * T * WIDE);
        if (form != FORM_REAL)
            cuda_round(NULL, half, plain, form, R * T * WIDE);
        a.ours = form_act(form == FORM_REAL ? plain : half, form);
        a.length = device_array(length, R);
        a.rows = R;
        a.steps = T;
        a.width = W;
        a.ld = WIDE;
        a.at = FROM;
        a.reverse = reverse;
        a.theirs = theirs = device_empty<float>(R * T * W);
        recur_hand_over(NULL, &a);
        for (int r = 0; r < R; r++)
            for (int t = 0; t < T; t++)
                for (int c = 0; c < W; c++) {
                    int here = reverse ? length[r] - 1 - t : t;
                    float want = t < length[r]
                                     ? form_get(a.ours, (uint64_t)(r * T + here) * WIDE + FROM + c)
                                     : 0;
                    over = over && theirs[(t * R + r) * W + c] == want;
                }
        a.theirs = device_numbers(2, R * T * W, NULL);
        for (uint32_t add = 0; add < 2; add++) {
            struct act to = plain_act(device_numbers(3, R * T * WIDE, NULL));
            struct act before = plain_act(device_numbers(3, R * T * WIDE, NULL));
            a.ours = to;
            a.add = add;
            recur_take_back(NULL, &a);
            for (int r = 0; r < R; r++)
                for (int t = 0; t < T; t++)
                    for (int c = 0; c < WIDE; c++) {
                        bool inside = c >= FROM && c < FROM + W;
                        int there = reverse ? length[r] - 1 - t : t;
                        uint64_t at = (uint64_t)(r * T + t) * WIDE + c;
                        float x = form_get(before, at), y = 0;
                        if (inside && t < length[r])
                            y = a.theirs[(there * R + r) * W + c - FROM];
                        back = back && form_get(to, at) == (!inside ? x : add ? x + y : y);
                    }
        }
        ok(emulate_findings() == 0, "steps: nothing found in order %u", order);
        device_drop_all();
    }
    ok(over && back, "steps there and back, %s, form %u: each row's own, 0 in padding",
       reverse ? "from the last to the first" : "as they are", form);
}

int main(void)
{
    test_weights(RECUR_LSTM);
    test_weights(RECUR_GRU);
    test_steps(false, FORM_REAL);
    test_steps(true, FORM_REAL);
    test_steps(false, FORM_BF16);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        test_end(&ends[i]);
    return done();
}
