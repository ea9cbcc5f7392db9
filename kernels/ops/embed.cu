/* embed.cu - categories: one-hot columns, rows of embedding tables, and the gradients of those
 * tables. A warp plays a column of a row of the batch, or owns a row of a table and adds what
 * belongs to it in the order of the batch: no two write to one place, and there are no atomics.
 *
 * Small tables: every row has its warp, which looks through the ids of the batch. Large ones: the
 * ids are sorted, a chunk of the batch a block, and the first of every run has the warp; rows that
 * nobody chose are only cleared. The sums are the same, bit for bit. */
#include "form.cuh"

enum { LANES_OF_BLOCK = 256, WARPS_OF_BLOCK = LANES_OF_BLOCK / WARP };
/* blocks a table; numbers that a lane sums at a time; rows whose numbers are on their way; words of
 * ids that a lane looks at together */
enum { TABLE_BLOCKS = 32, AT_ONCE = 2, IN_FLIGHT = 16, LOOKS = 4 };

KERNEL_BOUNDED(LANES_OF_BLOCK, onehot_rows)(struct op_onehot a)
{
    size_t row = (size_t)(block_x() / a.column_count) * WARPS_OF_BLOCK + warp_id();
    if (row >= a.rows)
        return;
    struct onehot_column one = a.columns[block_x() % a.column_count];
    uint32_t id = (uint32_t)a.ids[row * a.ids_ld + one.id];
    float *x = (float *)a.x.at + row * a.ld + one.at;
    for (uint32_t k = lane_id(); k < one.count; k += WARP)
        x[k] = k == id ? 1.0f : 0.0f;
}

KERNEL_BOUNDED(LANES_OF_BLOCK, embed_rows)(struct op_embed a)
{
    size_t row = (size_t)(block_x() / a.column_count) * WARPS_OF_BLOCK + warp_id();
    if (row >= a.rows)
        return;
    struct embed_column one = a.columns[block_x() % a.column_count];
    uint32_t id = (uint32_t)a.ids[row * a.ids_ld + one.id];
    const float *from = (const float *)a.params + one.table;
    from += (size_t)(id < one.count ? id : 0) * one.dim;
    float *x = (float *)a.x.at + row * a.ld + one.at;
    for (uint32_t k = lane_id(); k < one.dim; k += WARP)
        x[k] = from[k];
}

/* Adds dx of n rows, the lower halves of `keys`, in order: a lane has every 32nd column. */
template <class T>
DEVICE void add_rows(float (&sum)[AT_ONCE], const struct op_embed_back &a, const float *dx,
                     const T *keys, uint32_t n, uint32_t col, uint32_t dim)
{
    for (uint32_t first = 0; first < n; first += WARP) {
        uint32_t mine = first + lane_id() < n ? (uint32_t)keys[first + lane_id()] : 0;
        uint32_t here = n - first < WARP ? n - first : (uint32_t)WARP;
        for (uint32_t r = 0; r < here; r += IN_FLIGHT) {
            float v[IN_FLIGHT][AT_ONCE];
            UNROLL
            for (uint32_t k = 0; k < IN_FLIGHT; k++) {
                uint32_t row = shuffle(FULL_WARP, mine, (int)(r + k) % WARP);
                UNROLL
                for (int i = 0; i < AT_ONCE; i++)
                    v[k][i] = r + k < here && col + i * WARP < dim
                                  ? dx[(size_t)row * a.ld + col + i * WARP]
                                  : 0.0f;
            }
            UNROLL
            for (uint32_t k = 0; k < IN_FLIGHT; k++)
                UNROLL
                for (int i = 0; i < AT_ONCE; i++)
                    sum[i] = r + k < here ? sum[i] + v[k][i] : sum[i];
        }
    }
}

/* Lists the next rows from `first` on that have this id, by the whole warp; returns how many. */
DEVICE uint32_t list_rows(uint32_t *list, const struct op_embed_back &a, struct embed_column one,
                          uint32_t first, uint32_t id)
{
    uint32_t mine[LOOKS], n = 0;
    UNROLL
    for (uint32_t k = 0; k < LOOKS; k++) {
        uint32_t row = first + k * WARP + lane_id();
        mine[k] = row < a.rows ? (uint32_t)a.ids[(size_t)row * a.ids_ld + one.id] : one.count;
        mine[k] = row < a.rows && mine[k] >= one.count ? 0 : mine[k];
    }
    UNROLL
    for (uint32_t k = 0; k < LOOKS; k++)
        for (unsigned left = ballot(FULL_WARP, mine[k] == id); left; left &= left - 1, n++)
            if (lane_id() == 0)
                list[n] = first + k * WARP + lowest_bit(left);
    sync_warp(FULL_WARP);
    return n;
}

KERNEL_BOUNDED(LANES_OF_BLOCK, embed_gradient)(struct op_embed_back a)
{
    SHARED(uint32_t, lists, WARPS_OF_BLOCK * LOOKS * WARP);
    uint32_t *list = lists + warp_id() * LOOKS * WARP;
    struct embed_column one = a.columns[block_y()];
    const float *dx = (const float *)a.dx.at + one.at;
    for (uint32_t id = block_x() * WARPS_OF_BLOCK + warp_id(); id < one.count;
         id += grid_x() * WARPS_OF_BLOCK) {
        float *to = (float *)a.grads + one.table + (size_t)id * one.dim;
        for (uint32_t begin = 0; begin < one.dim; begin += AT_ONCE * WARP) {
            float sum[AT_ONCE] = {};
            uint32_t col = begin + lane_id();
            UNROLL
            for (int i = 0; i < AT_ONCE; i++)
                if (a.more && col + i * WARP < one.dim)
                    sum[i] = to[col + i * WARP];
            for (uint32_t first = 0; first < a.rows; first += LOOKS * WARP) {
                uint32_t n = list_rows(list, a, one, first, id);
                add_rows(sum, a, dx, list, n, col, one.dim);
            }
            UNROLL
            for (int i = 0; i < AT_ONCE; i++)
                if (col + i * WARP < one.dim)
                    to[col + i * WARP] = sum[i];
        }
    }
}

/* --- large tables --- */

enum { CHUNK = 4096, SORT_LANES = 512 };
/* categories x rows that are looked through sooner than sorted */
static const uint64_t LOOKED_THROUGH = (uint64_t)1 << 18;

/* How the batch is divided: into chunks of a power of two of rows; the rest of the last chunk has
 * keys of no row. */
struct chunks { uint32_t count, size; };
#define NO_KEY 0xffffffffffffffffull
static struct chunks chunks_of(uint32_t rows)
{
    struct chunks c = {(rows + CHUNK - 1) / CHUNK, 64};
    while (c.size < rows && c.size < CHUNK)
        c.size *= 2;
    return c;
}
DEVICE uint64_t *chunk_of(uint64_t *keys, struct chunks c, uint32_t column, uint32_t chunk)
{
    return keys + ((size_t)column * c.count + chunk) * c.size;
}

/* The first blocks sort the keys (id, row) of a chunk (bitonic sort, Batcher 1968; all keys
 * differ). The others clear the gradient of the tables. */
KERNEL_BOUNDED(SORT_LANES, embed_sort)(struct op_embed_back a, struct chunks c, uint64_t *keys)
{
    DYNAMIC(uint64_t, room);
    struct embed_column one = a.columns[block_y()];
    if (block_x() >= c.count) {
        float *to = (float *)a.grads + one.table;
        uint64_t n = (uint64_t)one.count * one.dim, step = (grid_x() - c.count) * block_size();
        for (uint64_t i = (block_x() - c.count) * block_size() + thread_id(); i < n; i += step)
            to[i] = 0;
        return;
    }
    for (uint32_t i = thread_id(); i < c.size; i += block_size()) {
        uint32_t row = block_x() * c.size + i, id = 0;
        if (row < a.rows)
            id = (uint32_t)a.ids[(size_t)row * a.ids_ld + one.id];
        room[i] = row < a.rows ? (uint64_t)(id < one.count ? id : 0) << 32 | row : NO_KEY;
    }
    for (uint32_t run = 2; run <= c.size; run *= 2) {
        for (uint32_t apart = run / 2; apart > 0; apart /= 2) {
            sync_block();
            for (uint32_t p = thread_id(); p < c.size / 2; p += block_size()) {
                uint32_t low = p / apart * 2 * apart + p % apart, high = low + apart;
                uint64_t x = room[low], y = room[high];
                if ((x > y) == ((low & run) == 0)) {
                    room[low] = y;
                    room[high] = x;
                }
            }
        }
    }
    sync_block();
    for (uint32_t i = thread_id(); i < c.size; i += block_size())
        chunk_of(keys, c, block_y(), block_x())[i] = room[i];
}

/* The first of n sorted keys that is not below `key`. */
DEVICE uint32_t first_from(const uint64_t *keys, uint32_t n, uint64_t key)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* True: an earlier chunk has the id; its warp then adds all rows. */
DEVICE bool stands_before(uint64_t *keys, struct chunks c, uint32_t chunk, uint32_t id)
{
    for (uint32_t first = 0; first < chunk; first += WARP) {
        bool found = false;
        if (first + lane_id() < chunk) {
            const uint64_t *in = chunk_of(keys, c, block_z(), first + lane_id());
            uint32_t at = first_from(in, c.size, (uint64_t)id << 32);
            found = at < c.size && in[at] >> 32 == id;
        }
        if (ballot(FULL_WARP, found))
            return true;
    }
    return false;
}

/* One warp a key: the first key of an id adds all its rows, of this chunk and of later ones. */
KERNEL_BOUNDED(LANES_OF_BLOCK, embed_sums)(struct op_embed_back a, struct chunks c, uint64_t *keys)
{
    struct embed_column one = a.columns[block_z()];
    const float *dx = (const float *)a.dx.at + one.at;
    const uint64_t *here = chunk_of(keys, c, block_z(), block_y());
    uint32_t at = block_x() * WARPS_OF_BLOCK + warp_id(), id = (uint32_t)(here[at] >> 32);
    if (here[at] == NO_KEY || (at > 0 && here[at - 1] >> 32 == id) ||
        stands_before(keys, c, block_y(), id))
        return;
    float *to = (float *)a.grads + one.table + (size_t)id * one.dim;
    for (uint32_t begin = 0; begin < one.dim; begin += AT_ONCE * WARP) {
        float sum[AT_ONCE] = {};
        uint32_t col = begin + lane_id();
        UNROLL
        for (int i = 0; i < AT_ONCE; i++)
            if (a.more && col + i * WARP < one.dim)
                sum[i] = to[col + i * WARP];
        for (uint32_t first = block_y(); first < c.count; first += WARP) {
            uint32_t start = 0, count = 0, chunk = first + lane_id();
            if (chunk < c.count) {
                const uint64_t *in = chunk_of(keys, c, block_z(), chunk);
                start = first_from(in, c.size, (uint64_t)id << 32);
                count = first_from(in, c.size, (uint64_t)(id + 1) << 32) - start;
            }
            for (uint32_t k = 0; k < WARP && first + k < c.count; k++) {
                uint32_t from = shuffle(FULL_WARP, start, (int)k);
                add_rows(sum, a, dx, chunk_of(keys, c, block_z(), first + k) + from,
                         shuffle(FULL_WARP, count, (int)k), col, one.dim);
            }
        }
        UNROLL
        for (int i = 0; i < AT_ONCE; i++)
            if (col + i * WARP < one.dim)
                to[col + i * WARP] = sum[i];
    }
}

/* --- starting --- */

/* A warp has a column of a row. */
static dim3 row_blocks(uint32_t rows, uint32_t columns)
{
    return dim3(parts(rows, WARPS_OF_BLOCK) * columns);
}

void cuda_onehot(struct machine *m, const struct op_onehot *a)
{
    if (a->rows && a->column_count)
        LAUNCH(onehot_rows, row_blocks(a->rows, a->column_count), dim3(LANES_OF_BLOCK), 0, m, *a);
}

void cuda_embed(struct machine *m, const struct op_embed *a)
{
    if (a->rows && a->column_count)
        LAUNCH(embed_rows, row_blocks(a->rows, a->column_count), dim3(LANES_OF_BLOCK), 0, m, *a);
}

static bool is_sorted(const struct op_embed_back *a)
{
    return (uint64_t)a->largest * a->rows > LOOKED_THROUGH;
}

size_t cuda_embed_back_scratch(const struct op_embed_back *a)
{
    struct chunks c = chunks_of(a->rows);
    return is_sorted(a) ? SCRATCH_HEAD + sizeof(uint64_t) * c.size * c.count * a->column_count : 0;
}

void cuda_embed_back(struct machine *m, const struct op_embed_back *a, void *scratch)
{
    struct chunks c = chunks_of(a->rows);
    uint64_t *keys = (uint64_t *)(void *)((char *)scratch + SCRATCH_HEAD);
    if (!a->column_count)
        return;
    if (!is_sorted(a)) {
        LAUNCH(embed_gradient, dim3(TABLE_BLOCKS, a->column_count), dim3(LANES_OF_BLOCK), 0, m, *a);
        return;
    }
    uint32_t lanes = c.size / 2 < SORT_LANES ? c.size / 2 : (uint32_t)SORT_LANES;
    LAUNCH(embed_sort, dim3(c.count + (a->more ? 0 : device_sms(m)), a->column_count), dim3(lanes),
           c.size * sizeof(uint64_t), m, *a, c, keys);
    LAUNCH(embed_sums, dim3(c.size / WARPS_OF_BLOCK, c.count, a->column_count),
           dim3(LANES_OF_BLOCK), 0, m, *a, c, keys);
}
