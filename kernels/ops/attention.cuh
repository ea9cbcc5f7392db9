/* attention.cuh - strips of attention. A block owns some steps of a head: queries, or on the second
 * pass of the way back the steps that are looked at. The products of its own steps with all others
 * lie in shared memory, a strip a step; its warps make shares of the strips; last come the sums
 * over the other steps, weighted by strips. Each number is one chain of sums, over columns or over
 * steps in their order, so that tiles change no bits. */
#ifndef DNN_KERNELS_ATTENTION_CUH
#define DNN_KERNELS_ATTENTION_CUH

#include "epilogue.cuh"
#include "form.cuh"

/* Lanes form a grid of ACROSS by DOWN; a lane has N own steps, DOWN apart. A tile has COLUMNS
 * columns of a head and OTHERS steps; LINE: numbers a step of such a tile, without bank
 * conflicts. */
enum { ACROSS = 16, DOWN = 8, LANES = ACROSS * DOWN, WARPS = LANES / WARP };
enum { COLUMNS = 32, OTHERS = 64, LINE = COLUMNS + 4, MANY = 4, FEW = 1 };

struct alignas(8) two { float v[2]; };

/* The columns of a head: step t of its sequence begins at at + t * ld. */
struct head_steps { struct act x; size_t at; uint32_t ld; };

/* Steps [own, own + owns) by others [first, end). Step t has to do with others from t on (from), or
 * to t (to), as causal attention says. ld: numbers of a strip. */
struct attend_block {
    size_t row, step; /* step: first step of the sequence, counted over all rows */
    uint32_t head, each, own, owns, first, end, length, ld;
    bool from, to, wide;
};
/* Chosen by the host: steps that a block owns, numbers of a strip, whether four columns are
 * aligned. */
struct attend_plan { uint32_t owns, ld, wide; };

DEVICE struct attend_block attend_block_of(struct dims d, uint32_t heads, const int32_t *length,
                                           struct attend_plan plan)
{
    struct attend_block b = {};
    uint32_t tiles = (d.steps + plan.owns - 1) / plan.owns, at = block_x() / tiles;
    b.own = block_x() % tiles * plan.owns;
    b.owns = d.steps - b.own < plan.owns ? d.steps - b.own : plan.owns;
    b.head = at % heads;
    b.row = at / heads;
    b.step = b.row * d.steps;
    b.each = d.width / heads;
    b.length = (uint32_t)length[b.row];
    b.ld = plan.ld;
    b.wide = plan.wide != 0;
    return b;
}
/* Queries by what they look at, or the other way round. */
DEVICE void attend_queries(struct attend_block *b, bool causal)
{
    uint32_t last = b->own + b->owns;
    b->to = causal;
    b->end = b->own >= b->length ? 0 : causal && last < b->length ? last : b->length;
}
DEVICE void attend_looked_at(struct attend_block *b, bool causal)
{
    b->from = causal;
    b->first = causal ? b->own / 4 * 4 : 0; /* strips are read by fours */
    b->end = b->own >= b->length ? b->first : b->length;
}

/* The others that own step i has to do with: none in padding. */
struct attend_range { uint32_t begin, end; };
DEVICE struct attend_range attend_range_of(const struct attend_block &b, uint32_t i)
{
    uint32_t t = b.own + i;
    if (i >= b.owns || t >= b.length)
        return {b.first, b.first};
    return {b.from ? t : b.first, b.to ? t + 1 : b.length};
}
DEVICE bool attend_is_none(struct attend_range r) { return r.begin >= r.end; }
DEVICE bool attend_is_in(struct attend_range r, uint32_t u)
{
    return u >= r.begin && u < r.end;
}

DEVICE struct head_steps head_part(const struct attend_block &b, struct act x, uint32_t width,
                                   uint32_t parts, uint32_t part)
{
    uint32_t ld = parts * width;
    return {x, b.step * ld + part * width + b.head * b.each, ld};
}

/* Four 16-bit numbers are widened once all are loaded. */
DEVICE void tile_put(float *to, struct four v, uint32_t)
{
    store4(to, v);
}
DEVICE void tile_put(float *to, struct four_bits v, uint32_t form)
{
    struct four wide;
    UNROLL
    for (int k = 0; k < 4; k++)
        wide.v[k] = bits_to_float(form, (uint16_t)(v.word[k / 2] >> 16 * (k % 2)));
    store4(to, wide);
}
template <int STEPS, class FOUR>
DEVICE void tile_copy(float *tile, struct head_steps h, uint32_t step, uint32_t end, uint32_t col,
                      uint32_t each)
{
    enum { ALONG = COLUMNS / 4, AT_ONCE = LANES / ALONG, TURNS = (STEPS + AT_ONCE - 1) / AT_ONCE };
    const FOUR *from = (const FOUR *)h.x.at;
    FOUR v[TURNS] = {};
    uint32_t i = thread_id() / ALONG, k = thread_id() % ALONG * 4;
    UNROLL
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        uint32_t t = step + turn * AT_ONCE + i;
        if (turn * AT_ONCE + i < STEPS && t < end && col + k < each)
            v[turn] = from[(h.at + (size_t)t * h.ld + col + k) / 4];
    }
    UNROLL
    for (uint32_t turn = 0; turn < TURNS; turn++)
        if (turn * AT_ONCE + i < STEPS)
            tile_put(tile + (turn * AT_ONCE + i) * LINE + k, v[turn], h.x.form);
}

/* A tile of the head's columns from `col` on, of STEPS steps from `step` on; 0 from `end` on and
 * past the last column. */
template <int STEPS>
DEVICE void tile_load(float *tile, struct head_steps h, uint32_t step, uint32_t end, uint32_t col,
                      const struct attend_block &b)
{
    if (b.wide && is_plain(h.x)) {
        tile_copy<STEPS, struct four>(tile, h, step, end, col, b.each);
    } else if (b.wide) {
        tile_copy<STEPS, struct four_bits>(tile, h, step, end, col, b.each);
    } else {
        ROLLED
        for (uint32_t at = thread_id(); at < STEPS * COLUMNS; at += LANES) {
            uint32_t t = step + at / COLUMNS, k = at % COLUMNS;
            bool there = t < end && col + k < b.each;
            tile[at / COLUMNS * LINE + k] =
                there ? form_get(h.x, h.at + (size_t)t * h.ld + col + k) : 0.0f;
        }
    }
}

/* strip[i][u - first] = own step i times other step u. tiles: room for own steps and others. */
template <int N>
DEVICE void strips_multiply(float *strip, float *tiles, const struct attend_block &b,
                            struct head_steps own, struct head_steps other)
{
    float *others = tiles + N * DOWN * LINE;
    uint32_t across = thread_id() % ACROSS, down = thread_id() / ACROSS;
    ROLLED
    for (uint32_t step = b.first; step < b.end; step += OTHERS) {
        float sum[N][4] = {};
        ROLLED
        for (uint32_t col = 0; col < b.each; col += COLUMNS) {
            sync_block();
            if (step == b.first || b.each > COLUMNS)
                tile_load<N * DOWN>(tiles, own, b.own, b.own + b.owns, col, b);
            tile_load<OTHERS>(others, other, step, b.end, col, b);
            sync_block();
            for (uint32_t k = 0; k < COLUMNS && col + k < b.each; k += 4) {
                struct four mine[N], theirs[4];
                UNROLL
                for (int i = 0; i < N; i++)
                    mine[i] = load4(tiles + (down + i * DOWN) * LINE + k);
                UNROLL
                for (int j = 0; j < 4; j++)
                    theirs[j] = load4(others + (across + j * ACROSS) * LINE + k);
                UNROLL
                for (int q = 0; q < 4; q++)
                    UNROLL
                    for (int i = 0; i < N; i++)
                        UNROLL
                        for (int j = 0; j < 4; j++)
                            sum[i][j] = fmaf(mine[i].v[q], theirs[j].v[q], sum[i][j]);
            }
        }
        UNROLL
        for (int i = 0; i < N; i++)
            UNROLL
            for (int j = 0; j < 4; j++) {
                uint32_t mine = down + i * DOWN, u = step + across + j * ACROSS;
                if (mine < b.owns && u < b.end)
                    strip[mine * b.ld + u - b.first] = sum[i][j];
            }
    }
}

/* to[t][j] = the sum over the others u that own step t attends to of strip[t][u - first]
 * other[u][j], in order. Strips are 0 for pairs that do not attend, as all are in padding. */
template <int N>
DEVICE void strips_sum(struct head_steps to, const float *strip, float *tiles,
                       const struct attend_block &b, struct head_steps other)
{
    float *others = tiles + N * DOWN * LINE;
    uint32_t across = thread_id() % ACROSS, down = thread_id() / ACROSS;
    ROLLED
    for (uint32_t col = 0; col < b.each; col += COLUMNS) {
        float sum[N][2] = {};
        ROLLED
        for (uint32_t step = b.first; step < b.end; step += OTHERS) {
            sync_block();
            tile_load<OTHERS>(others, other, step, b.end, col, b);
            sync_block();
            const float *by[N], *from = others + 2 * across;
            UNROLL
            for (int i = 0; i < N; i++) {
                uint32_t mine = down + i * DOWN; /* past the last: the last again */
                mine = mine < b.owns ? mine : b.owns - 1;
                by[i] = strip + mine * b.ld + step - b.first;
            }
            for (uint32_t u = 0; u < OTHERS && step + u < b.end; u += 4) {
                struct four weight[N];
                struct two theirs[4];
                UNROLL
                for (int i = 0; i < N; i++)
                    weight[i] = load4(by[i] + u);
                UNROLL
                for (int q = 0; q < 4; q++)
                    theirs[q] = *(const struct two *)(const void *)(from + (u + q) * LINE);
                UNROLL
                for (int q = 0; q < 4; q++)
                    UNROLL
                    for (int i = 0; i < N; i++)
                        UNROLL
                        for (int j = 0; j < 2; j++)
                            sum[i][j] = fmaf(weight[i].v[q], theirs[q].v[j], sum[i][j]);
            }
        }
        UNROLL
        for (int i = 0; i < N; i++)
            UNROLL
            for (int j = 0; j < 2; j++) {
                uint32_t mine = down + i * DOWN, k = col + 2 * across + j;
                if (mine < b.owns && k < b.each)
                    form_put(to.x, to.at + (size_t)(b.own + mine) * to.ld + k, sum[i][j]);
            }
    }
}

/* --- strips: COUNT strips of a warp, side by side, for own steps WARPS apart --- */

/* All numbers of a strip, by lanes: u counts from the first other step on, to a multiple of 4. */
#define EACH_OTHER(u)                                                                              \
    uint32_t u = lane_id();                                                                        \
    u < (b.end - b.first + 3) / 4 * 4;                                                             \
    u += WARP

template <int COUNT>
DEVICE void strip_ranges(struct attend_range (&range)[COUNT], const struct attend_block &b)
{
    UNROLL
    for (int i = 0; i < COUNT; i++)
        range[i] = attend_range_of(b, warp_id() + i * WARPS);
}
/* Number u of each strip; `none` of a step that the own one has nothing to do with. */
template <int COUNT>
DEVICE void strip_get(float (&v)[COUNT], const float *strip, uint32_t u, float none,
                      const struct attend_range (&range)[COUNT], const struct attend_block &b)
{
    UNROLL
    for (int i = 0; i < COUNT; i++)
        v[i] = attend_is_in(range[i], b.first + u) ? strip[(warp_id() + i * WARPS) * b.ld + u]
                                                   : none;
}
template <int COUNT>
DEVICE void strip_put(float *strip, uint32_t u, const float (&v)[COUNT],
                      const struct attend_block &b)
{
    UNROLL
    for (int i = 0; i < COUNT; i++)
        if (warp_id() + i * WARPS < b.owns)
            strip[(warp_id() + i * WARPS) * b.ld + u] = v[i];
}
template <int COUNT> DEVICE void strip_most(float (&v)[COUNT])
{
    for (int bits = 16; bits > 0; bits >>= 1)
        UNROLL
        for (int i = 0; i < COUNT; i++)
            v[i] = fmaxf(v[i], shuffle_xor(FULL_WARP, v[i], bits));
}
template <int COUNT> DEVICE void strip_total(float (&v)[COUNT])
{
    for (int bits = 16; bits > 0; bits >>= 1)
        UNROLL
        for (int i = 0; i < COUNT; i++)
            v[i] += shuffle_xor(FULL_WARP, v[i], bits);
}

/* x / by, inverse = 1 / by: two turns of Newton's method round as a division does (Markstein,
 * 1990), if nothing is below 2^-100, and do not branch. */
DEVICE float divide(float x, float by, float inverse)
{
    float y = x * inverse, first = y;
    y = fmaf(fmaf(-by, y, x), inverse, y);
    y = fmaf(fmaf(-by, y, x), inverse, y);
    return y == y ? y : first; /* of infinity */
}

/* Softmax: products become attention weights, 0 for steps that do not attend; log[i]: of the sum of
 * exponentials. */
template <int COUNT>
DEVICE void strips_share(float *strip, float (&log)[COUNT], const struct attend_block &b)
{
    struct attend_range range[COUNT];
    float v[COUNT], most[COUNT], sum[COUNT] = {}, inverse[COUNT];
    float root = sqrtf((float)b.each), root_inverse = 1 / root;
    strip_ranges(range, b);
    UNROLL
    for (int i = 0; i < COUNT; i++)
        most[i] = -INFINITY;
    ROLLED
    for (EACH_OTHER(u)) {
        strip_get(v, strip, u, -INFINITY, range, b);
        UNROLL
        for (int i = 0; i < COUNT; i++) {
            v[i] = divide(v[i], root, root_inverse);
            most[i] = fmaxf(most[i], v[i]);
        }
        strip_put(strip, u, v, b);
    }
    strip_most(most);
    UNROLL
    for (int i = 0; i < COUNT; i++)
        most[i] = attend_is_none(range[i]) ? 0 : most[i];
    ROLLED
    for (EACH_OTHER(u)) {
        strip_get(v, strip, u, -INFINITY, range, b);
        UNROLL
        for (int i = 0; i < COUNT; i++) {
            v[i] = expf(v[i] - most[i]); /* 0 of -INFINITY */
            sum[i] += v[i];
        }
        strip_put(strip, u, v, b);
    }
    strip_total(sum);
    UNROLL
    for (int i = 0; i < COUNT; i++) {
        sum[i] = attend_is_none(range[i]) ? 1 : sum[i];
        log[i] = most[i] + logf(sum[i]);
        inverse[i] = 1 / sum[i];
    }
    ROLLED
    for (EACH_OTHER(u)) {
        strip_get(v, strip, u, 0, range, b);
        UNROLL
        for (int i = 0; i < COUNT; i++)
            v[i] = divide(v[i], sum[i], inverse[i]);
        strip_put(strip, u, v, b);
    }
}

/* d: products become the gradients of scores; mean[i]: the weighted mean of the gradients of
 * attention weights. */
template <int COUNT>
DEVICE void strips_back(float *d, const float *share, float (&mean)[COUNT],
                        const struct attend_block &b)
{
    struct attend_range range[COUNT];
    float v[COUNT], p[COUNT], root = sqrtf((float)b.each), root_inverse = 1 / root;
    strip_ranges(range, b);
    UNROLL
    for (int i = 0; i < COUNT; i++)
        mean[i] = 0;
    ROLLED
    for (EACH_OTHER(u)) {
        strip_get(v, d, u, 0, range, b);
        strip_get(p, share, u, 0, range, b);
        UNROLL
        for (int i = 0; i < COUNT; i++)
            mean[i] = fmaf(v[i], p[i], mean[i]);
    }
    strip_total(mean);
    ROLLED
    for (EACH_OTHER(u)) {
        strip_get(v, d, u, 0, range, b);
        strip_get(p, share, u, 0, range, b);
        UNROLL
        for (int i = 0; i < COUNT; i++)
            v[i] = divide(p[i] * (v[i] - mean[i]), root, root_inverse);
        strip_put(d, u, v, b);
    }
}

/* Two numbers that a query keeps: log, and mean of the gradients. */
DEVICE float *attend_room(const struct op_attention_back &a, const struct attend_block &b,
                          uint32_t step)
{
    return (float *)a.room + ((b.step + step) * a.heads + b.head) * 2;
}

/* Shares and gradients of scores of steps that are looked at, by what their queries kept. */
template <int COUNT>
DEVICE void strips_looked_at(float *d, float *share, const struct op_attention_back &a,
                             const struct attend_block &b)
{
    struct attend_range range[COUNT];
    float v[COUNT], p[COUNT], root = sqrtf((float)b.each), root_inverse = 1 / root;
    strip_ranges(range, b);
    ROLLED
    for (EACH_OTHER(u)) {
        bool there = b.first + u < b.end;
        const float *room = attend_room(a, b, b.first + u);
        float log = there ? room[0] : 0.0f, mean = there ? room[1] : 0.0f;
        strip_get(v, d, u, 0, range, b);
        strip_get(p, share, u, -INFINITY, range, b);
        UNROLL
        for (int i = 0; i < COUNT; i++) {
            p[i] = expf(divide(p[i], root, root_inverse) - log);
            v[i] = divide(p[i] * (v[i] - mean), root, root_inverse);
        }
        strip_put(d, u, v, b);
        strip_put(share, u, p, b);
    }
}

#endif
