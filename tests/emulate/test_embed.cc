/* The gradients of embedding tables: the ids of the batch sorted, and every table row looking
 * through them; the same bits, and the sums of a reference in double. */
#include <math.h>

#include "form.cuh"
#include "harness.h"
#include "kernels.h"

enum { COLUMNS = 3 };

struct table { uint32_t count, dim; };

static int32_t id_of(uint32_t row, uint32_t column, uint32_t count)
{
    uint32_t x = (row * 2654435761u ^ column * 40503u) >> 7;
    if (x % 5 == 0)
        return 2; /* a frequent one, in every chunk */
    return x % 37 == 1 ? (int32_t)count + 3 : x % 41 == 2 ? -1 : (int32_t)(x % count);
}

static double reference(const struct op_embed_back *a, const struct embed_column *c,
                        const float *dx, uint32_t id, uint32_t k, double before)
{
    for (uint32_t row = 0; row < a->rows; row++) {
        uint32_t has = (uint32_t)a->ids[row * a->ids_ld + c->id];
        if ((has < c->count ? has : 0) == id)
            before += (double)dx[(size_t)row * a->ld + c->at + k];
    }
    return before;
}

static void test_tables(uint32_t rows, const struct table *tables, bool more)
{
    struct embed_column columns[COLUMNS];
    uint32_t width = 0, ids_ld = COLUMNS + 1;
    uint64_t size = 7;
    for (uint32_t i = 0; i < COLUMNS; i++) {
        columns[i] = {i, width, tables[i].dim, tables[i].count, size};
        width += tables[i].dim;
        size += (uint64_t)tables[i].count * tables[i].dim;
    }
    int32_t *ids = device_empty<int32_t>((size_t)rows * ids_ld);
    for (uint32_t row = 0; row < rows; row++)
        for (uint32_t i = 0; i < COLUMNS; i++)
            ids[row * ids_ld + i] = id_of(row, i, tables[i].count);
    shadow_written(ids, (size_t)rows * ids_ld * sizeof *ids);
    float *dx_host, *before, *looked = device_numbers(2, size, &before);
    float *sorted = device_numbers(2, size, NULL);
    float *dx = device_numbers(1, (size_t)rows * (width + 2), &dx_host);
    struct op_embed_back a = {{{rows, 1, width + 2, 1, 0}}, looked, plain_act(dx), ids,
                              device_array(columns, COLUMNS), NULL, width + 2, ids_ld, COLUMNS,
                              more, 0, 0};
    is_int((int64_t)cuda_embed_back_scratch(&a), 0, "few categories ask for nothing");
    cuda_embed_back(NULL, &a, NULL);
    a.grads = sorted;
    a.largest = 1u << 20;
    void *scratch = device_room(cuda_embed_back_scratch(&a));
    cuda_embed_back(NULL, &a, scratch);
    ok(memcmp(looked, sorted, size * sizeof *looked) == 0, "%u rows, more %d: the same bits", rows,
       more);
    double worst = 0;
    for (uint32_t i = 0; i < COLUMNS; i++)
        for (uint32_t id = 0; id < tables[i].count; id += 1 + tables[i].count / 7)
            for (uint32_t k = 0; k < tables[i].dim; k += 3) {
                uint64_t at = columns[i].table + (uint64_t)id * tables[i].dim + k;
                double want = reference(&a, &columns[i], dx_host, id, k,
                                        more ? (double)before[at] : 0);
                double far = fabs((double)sorted[at] - want) / (1 + fabs(want));
                worst = far > worst ? far : worst;
            }
    ok(worst < 1e-5, "%u rows, more %d: %.2g from the sums in double", rows, more, worst);
    device_drop_all();
}

int main(void)
{
    static const struct table small[COLUMNS] = {{3, 5}, {40, 131}, {300, 2}};
    static const struct table large[COLUMNS] = {{3, 2}, {40, 5}, {90, 1}};
    for (EACH_ORDER(order))
        for (int more = 0; more < 2; more++)
            test_tables(order % 2 ? 37 : 150, small, more);
    test_tables(4096 + 4096 + 11, large, true);
    test_tables(1, large, false);
    is_int(emulate_findings(), 0, "no findings");
    return done();
}
