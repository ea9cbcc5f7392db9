/* norms.c - see norms.h. */
#include "train/norms.h"

#include <math.h>
#include <string.h>

#include "base/sort.h"

static int64_t kept(const struct norms *n)
{
    return n->seen < NORMS_WINDOW ? n->seen : NORMS_WINDOW;
}

static int by_size(const void *a, const void *b, const void *context)
{
    (void)context;
    const double *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

bool norms_add(struct norms *n, double norm)
{
    n->above = n->median > 0 && norm > NORMS_FACTOR * n->median ? n->above + 1 : 0;
    n->window[n->seen++ % NORMS_WINDOW] = norm;
    if (n->seen % NORMS_EVERY == 0) {
        double sorted[NORMS_WINDOW];
        int64_t count = kept(n);
        memcpy(sorted, n->window, (size_t)count * sizeof *sorted);
        sort_stable(sorted, (size_t)count, sizeof *sorted, by_size, NULL);
        n->median = sorted[count / 2];
    }
    return n->above >= NORMS_ROW;
}

uint64_t norms_pack(const struct norms *n, double values[NORMS_MOST])
{
    int64_t count = kept(n);
    values[0] = (double)n->seen;
    values[1] = (double)n->above;
    values[2] = n->median;
    memcpy(values + 3, n->window, (size_t)count * sizeof *values);
    return (uint64_t)count + 3;
}

bool norms_unpack(struct norms *n, const double *values, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (!isfinite(values[i]) || values[i] < 0)
            return false;
    if (count < 3 || count > NORMS_MOST || values[0] > 0x1p53 || values[1] >= NORMS_ROW)
        return false;
    *n = (struct norms){.seen = (int64_t)values[0], .above = (int64_t)values[1],
                        .median = values[2]};
    if (kept(n) != (int64_t)count - 3)
        return false;
    memcpy(n->window, values + 3, (size_t)(count - 3) * sizeof *values);
    return true;
}
