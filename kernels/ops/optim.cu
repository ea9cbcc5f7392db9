/* optim.cu - the end of a step over one arena: the sum of the gradient's shards and its norm, then
 * the optimiser. Tiles follow from n alone; partial sums are added in order, in double. Formulas
 * and their order are the CPU's (cpu_optim.c, vec_param.h). */
#include "sheet.cuh"
#include "ops/step.cuh"

enum { TILE = 2048, LANES_OF_BLOCK = 256, SUMS_AT = 64 };

DEVICE bool is_finite(double x)
{
    return fabs(x) <= 1.7976931348623157e308;
}

/* The group of element i. */
DEVICE const struct group *group_of(const struct grads *from, uint64_t i)
{
    uint32_t low = 0, high = from->group_count - 1;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (i < from->groups[middle].end)
            high = middle;
        else
            low = middle + 1;
    }
    return from->groups + low;
}

/* --- norm2 --- */

/* True: all groups have all shards; the whole warp must ask. */
DEVICE bool groups_even(const struct grads *from)
{
    bool even = true;
    for (uint32_t i = lane_id(); i < from->group_count; i += WARP)
        even &= from->groups[i].shards >= from->shards;
    return ballot(FULL_WARP, !even) == 0;
}

/* Sums the shards of g in order, for N runs of V elements from i, i + step, .. that end at `end` or
 * before, if groups are even; adds the squares of a run to *square, run by run. Loads are issued
 * ahead of the adds. */
template <int V, int N>
DEVICE void sum_even(float *to, const struct grads *from, uint64_t i, uint64_t end, uint32_t step,
                     double *square)
{
    enum { AHEAD = N > 4 ? 2 : 4 };
    const float *g = (const float *)from->g + i;
    float sum[N][V] = {}, next[AHEAD][N][V] = {};
    bool there[N];
    UNROLL
    for (uint32_t n = 0; n < N; n++) {
        there[n] = i + n * step + V <= end;
        if (there[n])
            run_load(sum[n], g + n * step);
    }
    for (uint32_t s = 1; s < from->shards; s += AHEAD) {
        UNROLL
        for (uint32_t a = 0; a < AHEAD; a++)
            UNROLL
            for (uint32_t n = 0; n < N; n++)
                if (there[n] && s + a < from->shards)
                    run_load(next[a][n], g + (s + a) * from->shard_stride + n * step);
        UNROLL
        for (uint32_t a = 0; a < AHEAD; a++)
            UNROLL
            for (uint32_t n = 0; n < N; n++)
                UNROLL
                for (int k = 0; k < V; k++)
                    if (s + a < from->shards)
                        sum[n][k] += next[a][n][k];
    }
    UNROLL
    for (uint32_t n = 0; n < N; n++) {
        double all = 0;
        if (!there[n])
            continue;
        run_store(to + i + n * step, sum[n]);
        UNROLL
        for (int k = 0; k < V; k++)
            all += (double)sum[n][k] * (double)sum[n][k];
        *square += all;
    }
}

/* As sum_even, for one run in any groups; returns the sum of its squares. */
template <int V> DEVICE double sum_shards(float *to, const struct grads *from, uint64_t i)
{
    const struct group *of = group_of(from, i);
    const float *g = (const float *)from->g + i;
    double square = 0;
    float sum[V], next[V];
    run_load(sum, g);
    uint32_t shards = of->shards;
    bool mixed = i + V > of->end; /* the run ends in a later group */
    for (uint32_t s = 1; s < from->shards && (s < shards || mixed); s++) {
        run_load(next, g + s * from->shard_stride);
        UNROLL
        for (int k = 0; k < V; k++)
            if (s < (mixed ? group_of(from, i + k)->shards : shards))
                sum[k] += next[k];
    }
    run_store(to + i, sum);
    UNROLL
    for (int k = 0; k < V; k++)
        square += (double)sum[k] * (double)sum[k];
    return square;
}

/* This lane's share of the elements from begin to end; returns the sum of its squares. */
template <int V>
DEVICE double sum_tile(float *to, const struct grads *from, uint64_t begin, uint64_t end)
{
    uint64_t i = begin + thread_id() * V;
    double square = 0;
    if (groups_even(from)) {
        sum_even<V, TILE / (LANES_OF_BLOCK * V)>(to, from, i, end, LANES_OF_BLOCK * V, &square);
        if constexpr (V > 1) { /* the lane whose run would be cut short */
            uint64_t rest = end - (end - begin) % V;
            if ((rest - begin) / V % LANES_OF_BLOCK == thread_id())
                sum_even<1, V - 1>(to, from, rest, end, 1, &square);
        }
        return square;
    }
    for (; i < end; i += LANES_OF_BLOCK * V) {
        if (i + V <= end)
            square += sum_shards<V>(to, from, i);
        for (; i + V > end && i < end; i++)
            square += sum_shards<1>(to, from, i);
    }
    return square;
}

/* Writes norm and finiteness of the gradient to the step, by one lane; weights: the first WARP of
 * the shards'. A call, so that other code needs no registers for it. */
DEVICE_CALL void put_norm(const struct op_norm2 *a, double square, const double *weights)
{
    double weight = 0;
    for (uint32_t s = 0; s < a->from.shards; s++)
        weight += s < WARP ? weights[s] : a->from.part_weight[s];
    *(double *)a->sums = weight;
    a->now->gnorm = weight > 0 ? sqrt(square) / weight : 0;
    a->now->bad = !is_finite(square) || !is_finite(weight) || (a->halt && a->now->bad_steps > 0);
}

template <int V>
KERNEL_SHARING(LANES_OF_BLOCK, 4, norm2_tile)(ARGUMENT(struct op_norm2) a, uint32_t *counter,
                                              double *parts)
{
    SHARED(double, room, LANES_OF_BLOCK / WARP);
    SHARED(double, weights, WARP);
    SHARED(uint32_t, said, 1);
    float *sums = (float *)(void *)((char *)a.sums + SUMS_AT);
    uint64_t begin = (uint64_t)block_x() * TILE, end = begin + TILE;
    end = end < a.from.n ? end : a.from.n;
    double square = block_sum(sum_tile<V>(sums, &a.from, begin, end), room);
    if (thread_id() == 0)
        parts[block_x()] = square;
    if (!block_is_last(counter, grid_x(), said))
        return;
    square = 0;
    if (thread_id() < WARP && thread_id() < a.from.shards)
        weights[thread_id()] = a.from.part_weight[thread_id()];
    for (uint32_t i = thread_id(); i < grid_x() && a.from.n > 0; i += LANES_OF_BLOCK)
        square += parts[i];
    square = block_sum(square, room);
    if (thread_id() == 0)
        put_norm(&a, square, weights);
}

/* --- optimisers --- */

/* The values that all elements of a step share; found once a block. */
struct common {
    double lr, decay;   /* of the step */
    float scale;        /* division by the weight and clipping */
    float root;         /* Adam's alone: 1 / sqrt(bias2) */
    double unbias;      /* the same: 1 / bias1 */
};
/* Called, as put_norm. */
DEVICE_CALL void put_common(struct common *to, const void *sums, const struct step *now,
                            double clip)
{
    double weight = *(const double *)sums, scale = weight > 0 ? 1 / weight : 0;
    if (clip > 0 && now->gnorm > clip)
        scale *= clip / now->gnorm;
    to->scale = (float)scale;
}
DEVICE_CALL double bias_of(double beta, int64_t applied)
{
    return 1 - pow(beta, (double)applied + 1);
}
DEVICE_CALL void put_rates(struct common *to, struct schedule schedule, const struct step *now)
{
    struct hyper rates = step_rates(&schedule, now->tried);
    to->lr = rates.lr;
    to->decay = rates.weight_decay;
}
/* One lane of a warp each. */
DEVICE void put_own(struct common *to, const struct op_adam &a)
{
    if (thread_id() == WARP)
        to->unbias = 1 / bias_of(a.beta1, a.now->applied);
    if (thread_id() == 2 * WARP)
        to->root = (float)(1 / sqrt(bias_of(a.beta2, a.now->applied)));
}
DEVICE void put_own(struct common *, const struct op_rmsprop &) {}
DEVICE void put_own(struct common *, const struct op_sgd &) {}

/* The values that the elements of a group share. */
struct rates { float step, shrink, l2; };
DEVICE struct rates rates_of(const struct op_adam &a, const struct common &c,
                             const struct group *of)
{
    double rate = c.lr * of->lr, decay = c.decay * of->weight_decay;
    return {-(float)(rate * c.unbias), a.decoupled ? -(float)(rate * decay) : 0.0f,
            a.decoupled ? 0.0f : (float)decay};
}
template <class Op>
DEVICE struct rates rates_of(const Op &, const struct common &c, const struct group *of)
{
    return {-(float)(c.lr * of->lr), 0, (float)(c.decay * of->weight_decay)};
}

/* A run of V elements: p and the states a, b; g is the summed gradient. */
template <int V> struct run { float p[V], g[V], a[V], b[V]; };

template <int V> DEVICE void run_begin(const struct op_adam &o, struct run<V> *r, uint64_t i)
{
    run_load(r->a, (const float *)o.m1 + i);
    run_load(r->b, (const float *)o.m2 + i);
}
template <int V> DEVICE void run_begin(const struct op_rmsprop &o, struct run<V> *r, uint64_t i)
{
    run_load(r->a, (const float *)o.v + i);
}
template <int V> DEVICE void run_begin(const struct op_sgd &o, struct run<V> *r, uint64_t i)
{
    if (o.m)
        run_load(r->a, (const float *)o.m + i);
}
template <int V> DEVICE void run_end(const struct op_adam &o, const struct run<V> *r, uint64_t i)
{
    run_store((float *)o.m1 + i, r->a);
    run_store((float *)o.m2 + i, r->b);
}
template <int V> DEVICE void run_end(const struct op_rmsprop &o, const struct run<V> *r, uint64_t i)
{
    run_store((float *)o.v + i, r->a);
}
template <int V> DEVICE void run_end(const struct op_sgd &o, const struct run<V> *r, uint64_t i)
{
    if (o.m)
        run_store((float *)o.m + i, r->a);
}

/* Kingma and Ba (2015); decoupled decay: Loshchilov and Hutter (2019). */
template <int V>
DEVICE void run_step(const struct op_adam &o, const struct common &c, struct rates by,
                     struct run<V> *r, int k)
{
    float b1 = (float)o.beta1, c1 = (float)(1 - o.beta1);
    float b2 = (float)o.beta2, c2 = (float)(1 - o.beta2), p = r->p[k];
    float g = fmaf(by.l2, p, r->g[k] * c.scale);
    r->a[k] = fmaf(b1, r->a[k], c1 * g);
    r->b[k] = fmaf(b2, r->b[k], c2 * (g * g));
    p = fmaf(by.shrink, p, p);
    r->p[k] = fmaf(by.step, r->a[k] / fmaf(sqrtf(r->b[k]), c.root, (float)o.epsilon), p);
}
/* Tieleman and Hinton (2012), not centred. */
template <int V>
DEVICE void run_step(const struct op_rmsprop &o, const struct common &c, struct rates by,
                     struct run<V> *r, int k)
{
    float g = fmaf(by.l2, r->p[k], r->g[k] * c.scale);
    r->a[k] = fmaf((float)o.decay, r->a[k], (float)(1 - o.decay) * (g * g));
    r->p[k] = fmaf(by.step, g / (sqrtf(r->a[k]) + (float)o.epsilon), r->p[k]);
}
/* m = momentum m + g; p -= lr m, or with Nesterov lr (g + momentum m). */
template <int V>
DEVICE void run_step(const struct op_sgd &o, const struct common &c, struct rates by,
                     struct run<V> *r, int k)
{
    float g = fmaf(by.l2, r->p[k], r->g[k] * c.scale);
    if (o.m) {
        r->a[k] = fmaf((float)o.momentum, r->a[k], g);
        g = o.nesterov ? fmaf((float)o.momentum, r->a[k], g) : r->a[k];
    }
    r->p[k] = fmaf(by.step, g, r->p[k]);
}

template <class Op, int V> DEVICE void run_read(const Op &o, struct run<V> *r, uint64_t i)
{
    run_load(r->p, (const float *)o.p + i);
    run_load(r->g, (const float *)(const void *)((const char *)o.sums + SUMS_AT) + i);
    run_begin(o, r, i);
}
/* of: the group of element i */
template <class Op, int V>
DEVICE void run_update(const Op &o, const struct common &c, const struct group *of,
                       struct run<V> *r, uint64_t i)
{
    struct rates by = rates_of(o, c, of);
    UNROLL
    for (int k = 0; k < V; k++) {
        while (i + k >= of->end)
            by = rates_of(o, c, ++of);
        run_step(o, c, by, r, k);
    }
    run_store((float *)o.p + i, r->p);
    if (o.shadow.at)
        run_store(o.shadow, i, r->p);
    run_end(o, r, i);
}

/* Elements are updated in units: `fours` units of four elements each, the others one by one.
 * counter: NULL, or the last block also ends the step. The data of a lane's first unit is loaded
 * while single lanes compute the shared values. */
template <class Op>
KERNEL_BOUNDED(LANES_OF_BLOCK, update)(ARGUMENT(Op) o, uint64_t fours,
                                       ARGUMENT(struct op_advance) end, uint32_t *counter)
{
    enum { RUN = 4 };
    SHARED(struct common, shared, 1);
    SHARED(struct step_inputs, ending, 1);
    SHARED(uint32_t, said, 1);
    uint64_t units = o.from.n - (RUN - 1) * fours, first = global_id();
    const struct group *of = nullptr;
    struct run<RUN> four = {};
    struct run<1> one = {};
    bool bad = o.now->bad != 0;
    if (first < fours)
        run_read(o, &four, RUN * first);
    else if (first < units)
        run_read(o, &one, first + (RUN - 1) * fours);
    if (first < units)
        of = group_of(&o.from, first < fours ? RUN * first : first + (RUN - 1) * fours);
    if (thread_id() == 0)
        put_common(shared, o.sums, o.now, o.clip);
    if (thread_id() == 4 * WARP)
        put_rates(shared, o.schedule, o.now);
    put_own(shared, o);
    if (counter && thread_id() == 3 * WARP)
        step_end_read(ending, end);
    sync_block();
    struct common c = *shared;
    for (uint64_t unit = first; unit < units && !bad; unit += global_count()) {
        uint64_t i = unit < fours ? RUN * unit : unit + (RUN - 1) * fours;
        if (unit != first)
            of = group_of(&o.from, i);
        if (unit < fours) {
            if (unit != first)
                run_read(o, &four, i);
            run_update(o, c, of, &four, i);
        } else {
            if (unit != first)
                run_read(o, &one, i);
            run_update(o, c, of, &one, i);
        }
    }
    if (counter && block_is_last(counter, grid_x(), said))
        end_of_step(end, ending);
}

template <int V>
KERNEL_BOUNDED(LANES_OF_BLOCK, round_all)(struct act to, const float *x, size_t n)
{
    for (uint64_t i = global_id() * V; i < n; i += global_count() * V) {
        float v[V];
        run_load(v, x + i);
        run_store(to, i, v);
    }
}

/* --- starting --- */

void cuda_round(struct machine *m, void *to, const float *x, uint32_t form, size_t n)
{
    dim3 lanes(LANES_OF_BLOCK);
    struct act rounded = form_act(to, form);
    if (n && n % 4 == 0 && is_wide(x, 0) && is_wide(rounded, 0))
        LAUNCH(round_all<4>, spread(m, n / 4, LANES_OF_BLOCK), lanes, 0, m, rounded, x, n);
    else if (n)
        LAUNCH(round_all<1>, spread(m, n, LANES_OF_BLOCK), lanes, 0, m, rounded, x, n);
}

size_t cuda_norm2_kept(uint64_t n)
{
    return SUMS_AT + (size_t)n * sizeof(float);
}
static unsigned norm2_tiles(uint64_t n)
{
    return n ? (unsigned)((n + TILE - 1) / TILE) : 1;
}
size_t cuda_norm2_scratch(uint64_t n)
{
    return SCRATCH_HEAD + norm2_tiles(n) * sizeof(double);
}

static bool wide_gradient(const struct grads *from)
{
    return (uintptr_t)from->g % 16 == 0 && (from->shards < 2 || from->shard_stride % 4 == 0);
}

void cuda_norm2(struct machine *m, const struct op_norm2 *a, void *scratch)
{
    dim3 grid(norm2_tiles(a->from.n)), lanes(LANES_OF_BLOCK);
    uint32_t *counter = (uint32_t *)scratch;
    double *parts = (double *)(void *)((char *)scratch + SCRATCH_HEAD);
    if (wide_gradient(&a->from) && is_wide(a->sums, 0))
        LAUNCH(norm2_tile<4>, grid, lanes, 0, m, *a, counter, parts);
    else
        LAUNCH(norm2_tile<1>, grid, lanes, 0, m, *a, counter, parts);
}

template <class Op>
static void start(struct machine *m, const Op *o, const struct op_advance *end, void *scratch,
                  bool wide)
{
    dim3 lanes(LANES_OF_BLOCK);
    struct op_advance last = {};
    uint32_t *counter = end ? (uint32_t *)scratch : nullptr;
    if (end)
        last = *end;
    if (!o->from.n && !end)
        return;
    uint64_t fours = wide && is_wide(o->p, 0) && is_wide(o->sums, 0) ? o->from.n / 4 : 0;
    uint64_t units = o->from.n - 3 * fours;
    LAUNCH(update<Op>, spread(m, units ? units : 1, LANES_OF_BLOCK), lanes, 0, m, *o, fours, last,
           counter);
}

void cuda_sgd(struct machine *m, const struct op_sgd *a, const struct op_advance *end,
              void *scratch)
{
    start(m, a, end, scratch, !a->m || is_wide(a->m, 0));
}

void cuda_rmsprop(struct machine *m, const struct op_rmsprop *a, const struct op_advance *end,
                  void *scratch)
{
    start(m, a, end, scratch, is_wide(a->v, 0));
}

void cuda_adam(struct machine *m, const struct op_adam *a, const struct op_advance *end,
               void *scratch)
{
    start(m, a, end, scratch, is_wide(a->m1, 0) && is_wide(a->m2, 0));
}
