/* attention.cu - attention itself, in strips (attention.cuh): a pass forward, and two on the way
 * back. */
#include "ops/attention.cuh"

/* --- kernels: N own steps a lane --- */

enum { STRIPS_OF_LANES = DOWN / WARPS }; /* strips of a warp for each own step of a lane */
enum { Q, K, V, PARTS };

template <int N>
KERNEL_SHARING(LANES, 4, attention_queries)(struct op_attention a, struct attend_plan plan)
{
    DYNAMIC(float, tiles);
    struct attend_block b = attend_block_of(a.dims, a.heads, a.length, plan);
    float *share = tiles + (N * DOWN + OTHERS) * LINE, log[N * STRIPS_OF_LANES];
    attend_queries(&b, a.causal != 0);
    strips_multiply<N>(share, tiles, b, head_part(b, a.x, a.width, PARTS, Q),
                       head_part(b, a.x, a.width, PARTS, K));
    sync_block();
    strips_share(share, log, b);
    strips_sum<N>(head_part(b, a.y, a.width, 1, 0), share, tiles, b,
                  head_part(b, a.x, a.width, PARTS, V));
}

/* dq; keeps what the next kernel needs of each query. */
template <int N>
KERNEL_SHARING(LANES, 4, attention_dq)(struct op_attention_back a, struct attend_plan plan)
{
    DYNAMIC(float, tiles);
    struct attend_block b = attend_block_of(a.dims, a.heads, a.length, plan);
    float *share = tiles + (N * DOWN + OTHERS) * LINE, *d = share + plan.owns * plan.ld;
    float log[N * STRIPS_OF_LANES], mean[N * STRIPS_OF_LANES];
    attend_queries(&b, a.causal != 0);
    strips_multiply<N>(share, tiles, b, head_part(b, a.x, a.width, PARTS, Q),
                       head_part(b, a.x, a.width, PARTS, K));
    strips_multiply<N>(d, tiles, b, head_part(b, a.dy, a.width, 1, 0),
                       head_part(b, a.x, a.width, PARTS, V));
    sync_block();
    strips_share(share, log, b);
    strips_back(d, share, mean, b);
    UNROLL
    for (int i = 0; i < N * STRIPS_OF_LANES; i++) {
        uint32_t mine = warp_id() + i * WARPS;
        if (mine < b.owns && b.own + mine < b.length && lane_id() == 0) {
            float *room = attend_room(a, b, b.own + mine);
            room[0] = log[i];
            room[1] = mean[i];
        }
    }
    strips_sum<N>(head_part(b, a.dx, a.width, PARTS, Q), d, tiles, b,
                  head_part(b, a.x, a.width, PARTS, K));
}

/* dk and dv: the block's own steps are looked at by the others. */
template <int N>
KERNEL_SHARING(LANES, 4, attention_dkv)(struct op_attention_back a, struct attend_plan plan)
{
    DYNAMIC(float, tiles);
    struct attend_block b = attend_block_of(a.dims, a.heads, a.length, plan);
    float *share = tiles + (N * DOWN + OTHERS) * LINE, *d = share + plan.owns * plan.ld;
    struct head_steps q = head_part(b, a.x, a.width, PARTS, Q);
    struct head_steps dy = head_part(b, a.dy, a.width, 1, 0);
    attend_looked_at(&b, a.causal != 0);
    strips_multiply<N>(share, tiles, b, head_part(b, a.x, a.width, PARTS, K), q);
    strips_multiply<N>(d, tiles, b, head_part(b, a.x, a.width, PARTS, V), dy);
    sync_block();
    strips_looked_at<N * STRIPS_OF_LANES>(d, share, a, b);
    strips_sum<N>(head_part(b, a.dx, a.width, PARTS, K), d, tiles, b, q);
    strips_sum<N>(head_part(b, a.dx, a.width, PARTS, V), share, tiles, b, dy);
}

/* --- launches --- */

static size_t tiles_bytes(uint32_t n)
{
    return (size_t)(n * DOWN + OTHERS) * LINE * sizeof(float);
}
/* A block owns DOWN steps for each own step of a lane, if the sequence has as many and its memory
 * has room for their strips, `strips` each. Strips end 16 banks from each other. */
static struct attend_plan attend_plan_of(const struct machine *m, struct dims d, unsigned strips,
                                         uint32_t n, bool wide)
{
    struct attend_plan plan = {n * DOWN, (d.steps + 15) / 32 * 32 + 16, wide};
    size_t room = device_block_bytes(m) - BESIDE_DYNAMIC - tiles_bytes(n);
    size_t fit = room / (strips * plan.ld * sizeof(float));
    plan.owns = plan.owns < d.steps ? plan.owns : d.steps;
    plan.owns = plan.owns < fit ? plan.owns : (uint32_t)fit;
    return plan;
}
static size_t attend_bytes(struct attend_plan plan, unsigned strips, uint32_t n)
{
    return tiles_bytes(n) + (size_t)strips * plan.owns * plan.ld * sizeof(float);
}
static dim3 attend_blocks(struct dims d, uint32_t heads, struct attend_plan plan)
{
    return dim3((unsigned)((size_t)d.rows * heads * ((d.steps + plan.owns - 1) / plan.owns)));
}
static bool attend_is_wide(struct act x, uint32_t width, uint32_t heads)
{
    return form_fours(x) && width / heads % 4 == 0;
}

/* LAUNCH of KERNEL<MANY>, or of KERNEL<FEW> if a block owns few steps. */
#define LAUNCH_ATTENTION(kernel, strips, wide, m, a)                                               \
    do {                                                                                           \
        struct attend_plan plan_ = attend_plan_of(m, (a)->dims, strips, MANY, wide);               \
        if (plan_.owns > FEW * DOWN) {                                                             \
            LAUNCH(kernel<MANY>, attend_blocks((a)->dims, (a)->heads, plan_), dim3(LANES),         \
                   attend_bytes(plan_, strips, MANY), m, *(a), plan_);                             \
        } else {                                                                                   \
            plan_ = attend_plan_of(m, (a)->dims, strips, FEW, wide);                               \
            LAUNCH(kernel<FEW>, attend_blocks((a)->dims, (a)->heads, plan_), dim3(LANES),          \
                   attend_bytes(plan_, strips, FEW), m, *(a), plan_);                              \
        }                                                                                          \
    } while (0)

void cuda_attention(struct machine *m, const struct op_attention *a)
{
    if (a->rows && a->steps)
        LAUNCH_ATTENTION(attention_queries, 1, attend_is_wide(a->x, a->width, a->heads), m, a);
}

void cuda_attention_back(struct machine *m, const struct op_attention_back *a)
{
    bool wide = attend_is_wide(a->x, a->width, a->heads) &&
                attend_is_wide(a->dy, a->width, a->heads);
    if (!a->rows || !a->steps)
        return;
    LAUNCH_ATTENTION(attention_dq, 2, wide, m, a);
    LAUNCH_ATTENTION(attention_dkv, 2, wide, m, a);
}
