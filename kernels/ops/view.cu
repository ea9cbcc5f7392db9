/* view.cu - the views of a batch, and the mean of their answers. A lane writes one number, or a row
 * of answers; columns.cuh sums over rows. */
#include "columns.cuh"

enum { VIEW_LANES = 256, VIEW_SUM_LANES = 1024 };

KERNEL_BOUNDED(VIEW_LANES, view_forward)(struct op_view_scale a)
{
    size_t at = global_id(), all = (size_t)a.views * a.width;
    if (at >= a.rows * all)
        return;
    size_t of = at % all; /* of w and b */
    float y = form_get(a.x, a.shared ? at / all * a.width + of % a.width : at) * (float)a.w[of];
    form_put(a.y, at, a.b ? y + (float)a.b[of] : y);
}

/* dw and db: a block has 32 columns. */
KERNEL_BOUNDED(VIEW_SUM_LANES, view_sums)(struct op_view_scale_back a)
{
    SHARED(float, room, 2 * VIEW_SUM_LANES);
    size_t of = (size_t)block_x() * WARP + lane_id(), all = (size_t)a.views * a.width;
    size_t line = a.shared ? a.width : all, at = of < all ? of : 0;
    float sum[2];
    column_sums<2, 2>(
        sum, 0, a.rows, room,
        [&](uint32_t row, uint32_t(&word)[2]) {
            word[0] = form_bits(a.dy, row * all + at);
            word[1] = form_bits(a.x, row * line + at % line);
        },
        [&](const uint32_t(&word)[2], float(&to)[2]) {
            float dy = form_number(a.dy.form, word[0]);
            to[0] += dy * form_number(a.x.form, word[1]);
            to[1] += dy;
        });
    if (warp_id() != 0 || of >= all)
        return;
    a.dw[of] = (a.more ? a.dw[of] : 0) + sum[0];
    if (a.db)
        a.db[of] = (a.more ? a.db[of] : 0) + sum[1];
}

KERNEL_BOUNDED(VIEW_LANES, view_inputs)(struct op_view_scale_back a)
{
    size_t at = global_id();
    size_t all = (size_t)a.views * a.width, line = a.shared ? a.width : all;
    if (at >= a.rows * line)
        return;
    size_t row = at / line, of = at % line;
    float dx = a.add_dx ? form_get(a.dx, at) : 0.0f;
    for (uint32_t j = 0; j < (a.shared ? a.views : 1); j++, of += a.width)
        dx += form_get(a.dy, row * all + of) * (float)a.w[of];
    form_put(a.dx, at, dx);
}

DEVICE float log_add(float a, float b)
{
    return a > b ? a + log1pf(expf(b - a)) : b + log1pf(expf(a - b));
}

/* The log of the sum of exponentials. */
DEVICE float log_sum(struct act x, size_t at, uint32_t n)
{
    float most = form_get(x, at), sum = 0;
    for (uint32_t i = 1; i < n; i++)
        most = fmaxf(most, form_get(x, at + i));
    for (uint32_t i = 0; i < n; i++)
        sum += expf(form_get(x, at + i) - most);
    return most + logf(sum);
}

KERNEL_BOUNDED(VIEW_LANES, view_answers)(struct op_view_mean a)
{
    size_t row = global_id();
    if (row >= a.rows)
        return;
    for (uint32_t j = 0; j < a.views; j++) {
        size_t at = (row * a.views + j) * a.outputs;
        float sum = a.values ? 0.0f : log_sum(a.x, at, a.outputs);
        for (uint32_t k = 0; k < a.outputs; k++) {
            size_t to = row * a.outputs + k;
            float one = form_get(a.x, at + k) - sum, before = j ? form_get(a.y, to) : 0.0f;
            form_put(a.y, to, !j ? one : a.values ? before + one : log_add(before, one));
        }
    }
    for (uint32_t k = 0; k < a.outputs; k++) {
        size_t to = row * a.outputs + k;
        float y = form_get(a.y, to);
        form_put(a.y, to, a.values ? y / (float)a.views : y - logf((float)a.views));
    }
}

void cuda_view_scale(struct machine *m, const struct op_view_scale *a)
{
    LAUNCH_EACH(view_forward, (size_t)a->rows * a->views * a->width, VIEW_LANES, m, *a);
}

void cuda_view_scale_back(struct machine *m, const struct op_view_scale_back *a)
{
    size_t all = (size_t)a->views * a->width, line = a->shared ? a->width : all;
    if (!all)
        return;
    LAUNCH(view_sums, dim3(parts(all, WARP)), dim3(lanes_for(a->rows)), 0, m, *a);
    if (a->dx.at)
        LAUNCH_EACH(view_inputs, a->rows * line, VIEW_LANES, m, *a);
}

void cuda_view_mean(struct machine *m, const struct op_view_mean *a)
{
    LAUNCH_EACH(view_answers, a->rows, VIEW_LANES, m, *a);
}
