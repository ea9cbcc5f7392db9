/* recur_guest.cu - weights and steps between our layout and cuDNN's: see recur_guest.cuh. No two
 * lanes write to one place. */
#include "ops/recur_guest.cuh"

#include "form.cuh"

enum { RECUR_LANES = 128 };

HOST_DEVICE uint64_t recur_matrices(const struct recur_weights &a)
{
    return ((uint64_t)a.in + a.units) * RECUR_COLUMNS(a.kind) * a.units;
}
HOST_DEVICE uint64_t recur_numbers(const struct recur_weights &a)
{
    return recur_matrices(a) +
           (uint64_t)(a.u_b ? 2 : 1) * RECUR_COLUMNS(a.kind) * a.units;
}

struct recur_pair { float *ours, *theirs; };

DEVICE uint32_t part_of(uint32_t kind, uint64_t gate, bool recurrent)
{
    if (kind == RECUR_LSTM)
        return (uint32_t)gate + (recurrent ? 4 : 0);
    return recurrent ? (uint32_t)gate + 3 : ((uint32_t)gate + 2) % 3;
}

/* The i-th number of w, u, b and u_b in this order, here and there. */
DEVICE struct recur_pair pair_at(const struct recur_weights &a, uint64_t i)
{
    uint64_t columns = (uint64_t)RECUR_COLUMNS(a.kind) * a.units, inputs = a.in * columns;
    uint64_t matrices = recur_matrices(a);
    if (i < matrices) {
        bool recurrent = i >= inputs;
        uint64_t at = recurrent ? i - inputs : i, column = at % columns;
        uint64_t place = a.at.matrix[part_of(a.kind, column / a.units, recurrent)];
        uint64_t unit = column % a.units * (recurrent ? a.units : a.in);
        return {(recurrent ? a.u : a.w) + at, a.theirs + place + unit + at / columns};
    }
    bool recurrent = i - matrices >= columns;
    uint64_t at = (i - matrices) % columns;
    uint64_t place = a.at.bias[part_of(a.kind, at / a.units, recurrent)];
    return {(recurrent ? a.u_b : a.b) + at, a.theirs + place + at % a.units};
}

KERNEL_BOUNDED(RECUR_LANES, recur_to_theirs)(struct recur_weights a)
{
    uint64_t i = global_id();
    if (i < recur_numbers(a)) {
        struct recur_pair p = pair_at(a, i);
        *p.theirs = *p.ours;
    }
    if (i < a.numbers && a.cleared)
        a.cleared[i] = 0;
    if (i < a.rows)
        a.lengths[i] = (int32_t)a.steps;
}

KERNEL_BOUNDED(RECUR_LANES, recur_to_ours)(struct recur_weights a)
{
    uint64_t i = global_id();
    if (i >= recur_numbers(a))
        return;
    struct recur_pair p = pair_at(a, i);
    *p.ours = a.more ? *p.ours + *p.theirs : *p.theirs;
    for (uint32_t s = 1; s < a.shards && !a.more; s++)
        p.ours[s * a.shard_stride] = 0;
}

/* The place of step t of a row in the other order. */
DEVICE uint32_t turned(const struct recur_steps &a, uint32_t t, uint32_t length)
{
    return a.reverse ? length - 1 - t : t;
}

KERNEL_BOUNDED(RECUR_LANES, recur_steps_over)(struct recur_steps a)
{
    uint64_t i = global_id();
    if (i >= (uint64_t)a.rows * a.steps * a.width)
        return;
    uint32_t c = (uint32_t)(i % a.width), row = (uint32_t)(i / a.width % a.rows);
    uint32_t t = (uint32_t)(i / a.width / a.rows), length = (uint32_t)a.length[row];
    float x = 0;
    if (t < length)
        x = form_get(a.ours, ((uint64_t)row * a.steps + turned(a, t, length)) * a.ld + a.at + c);
    a.theirs[i] = x;
}

KERNEL_BOUNDED(RECUR_LANES, recur_steps_back)(struct recur_steps a)
{
    uint64_t i = global_id();
    if (i >= (uint64_t)a.rows * a.steps * a.width)
        return;
    uint32_t c = (uint32_t)(i % a.width), t = (uint32_t)(i / a.width % a.steps);
    uint32_t row = (uint32_t)(i / a.width / a.steps), length = (uint32_t)a.length[row];
    uint64_t to = ((uint64_t)row * a.steps + t) * a.ld + a.at + c;
    float x = 0;
    if (t < length)
        x = a.theirs[((uint64_t)turned(a, t, length) * a.rows + row) * a.width + c];
    form_put(a.ours, to, a.add ? form_get(a.ours, to) + x : x);
}

/* --- starting --- */

void recur_pack(struct machine *m, const struct recur_weights *a)
{
    uint64_t lanes = recur_numbers(*a);
    lanes = a->numbers > lanes ? a->numbers : lanes;
    lanes = a->rows > lanes ? a->rows : lanes;
    LAUNCH_EACH(recur_to_theirs, lanes, RECUR_LANES, m, *a);
}

void recur_unpack(struct machine *m, const struct recur_weights *a)
{
    LAUNCH_EACH(recur_to_ours, recur_numbers(*a), RECUR_LANES, m, *a);
}

void recur_hand_over(struct machine *m, const struct recur_steps *a)
{
    LAUNCH_EACH(recur_steps_over, (uint64_t)a->rows * a->steps * a->width, RECUR_LANES, m, *a);
}

void recur_take_back(struct machine *m, const struct recur_steps *a)
{
    LAUNCH_EACH(recur_steps_back, (uint64_t)a->rows * a->steps * a->width, RECUR_LANES, m, *a);
}
