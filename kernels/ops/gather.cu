/* gather.cu - records to the batch. A block has some of its rows, or a part of a wide one: a lane
 * finds the record of a row, and then all lanes copy. */
#include "ops/gather.cuh"

/* BLOCKS of a multiprocessor; AT_ONCE: words that a lane has on their way */
enum { LANES_OF_BLOCK = 256, BLOCKS = 4, AT_ONCE = 8 };

/* Rows of x, how many of them a block has, and how many blocks share the columns of those. */
struct gather_share { uint32_t rows, each, parts; };

/* A word of the rows of this block: its place in them. */
struct place { uint32_t row, col; };

/* Calls put(row, col, get(record, col)) for `rows` rows of this block's part of `width` columns; a
 * row without a record (NULL) has 0. A lane gets AT_ONCE words before it puts them: a load does not
 * begin before a store in front of it. */
template <class Get, class Put>
DEVICE void copy_words(const uint32_t *const *records, uint32_t rows, uint32_t width,
                       uint32_t parts, const Get &get, const Put &put)
{
    uint32_t each = (width + parts - 1) / parts, begin = block_x() % parts * each;
    if (begin >= width)
        return;
    each = width - begin < each ? width - begin : each;
    const uint32_t down = LANES_OF_BLOCK / each, along = LANES_OF_BLOCK % each;
    struct place at = {thread_id() / each, thread_id() % each};
    auto go_on = [&](struct place p) {
        bool over = p.col + along >= each;
        return place{p.row + down + over, p.col + along - (over ? each : 0)};
    };
    while (at.row < rows) {
        const uint32_t *record[AT_ONCE];
        uint32_t word[AT_ONCE];
        struct place next = at;
        UNROLL
        for (int i = 0; i < AT_ONCE; i++, next = go_on(next))
            record[i] = next.row < rows ? records[next.row] : nullptr;
        next = at;
        UNROLL
        for (int i = 0; i < AT_ONCE; i++, next = go_on(next))
            word[i] = record[i] ? get(record[i], begin + next.col) : 0;
        UNROLL
        for (int i = 0; i < AT_ONCE; i++, at = go_on(at))
            if (at.row < rows)
                put(at.row, begin + at.col, word[i]);
    }
}

/* Rows [to, to + rows) of x and ids. */
DEVICE void copy_records(const struct op_gather &a, size_t to, uint32_t rows, uint32_t parts,
                         const uint32_t *const *records)
{
    const struct rowfmt f = a.from->rows.format;
    const struct features *features = a.from->features;
    const uint32_t *indicators = features ? features->indicators : nullptr;
    float *x = (float *)a.x.at + to * a.ld;
    int32_t *ids = a.ids + to * f.categories;
    copy_words(
        records, rows, f.numbers, parts,
        [&](const uint32_t *record, uint32_t col) { return record[col]; },
        [&](uint32_t row, uint32_t col, uint32_t word) {
            x[(size_t)row * a.ld + col] = float_of_word(word);
        });
    copy_words(
        records, rows, features ? features->indicator_count : 0, parts,
        [&](const uint32_t *record, uint32_t col) {
            uint32_t bit = indicators[col];
            return record[f.at_missing / 4 + bit / 32] >> bit % 32 & 1;
        },
        [&](uint32_t row, uint32_t col, uint32_t bit) {
            x[(size_t)row * a.ld + f.numbers + col] = (float)bit;
        });
    copy_words(
        records, rows, f.categories, parts,
        [&](const uint32_t *record, uint32_t col) { return record[f.at_category / 4 + col]; },
        [&](uint32_t row, uint32_t col, uint32_t id) {
            ids[(size_t)row * f.categories + col] = (int32_t)id;
        });
}

/* The record of a row of the batch, in the order of this view; NULL: it has none. */
DEVICE const uint32_t *record_of_row(const struct op_gather &a, uint32_t row, uint32_t view,
                                     bool table)
{
    uint64_t at;
    if (!position_of(a, row, view, table, &at))
        return nullptr;
    return record_of(&a.from->rows, a.from->index ? a.from->index[at] : at);
}

/* The record of step t of sequence `row`; NULL: it has none. tells: true: writes what the sequence
 * has. *answers: the target belongs to this step. */
DEVICE const uint32_t *record_of_step(const struct op_gather &a, uint32_t row, uint32_t t,
                                      bool tells, bool *answers)
{
    uint64_t at;
    bool there = position_of(a, row, 0, false, &at);
    const uint32_t *index = there ? a.from->index + at * a.from->steps : nullptr;
    bool none = !there || index[t] == SOURCE_NONE;
    bool last = none ? t == 0 : t + 1 == a.steps || index[t + 1] == SOURCE_NONE;
    if (a.begins && t == 0 && tells)
        a.begins[row] = there && a.from->begins ? (int32_t)a.from->begins[at] : 1;
    if (last && tells)
        a.length[row] = none ? 0 : (int32_t)t + 1;
    *answers = last || a.each;
    return none ? nullptr : record_of(&a.from->rows, index[t]);
}

DEVICE void put_answer(const struct op_gather &a, size_t row, const uint32_t *record)
{
    if (record)
        put_target(&a, row, record);
    else
        a.target[row] = a.weight[row] = 0;
}

/* With a.steps above 1 the rows are steps of sequences, or views. */
KERNEL_SHARING(LANES_OF_BLOCK, BLOCKS, gather_rows)(struct op_gather a, struct gather_share of)
{
    SHARED(const uint32_t *, records, LANES_OF_BLOCK);
    uint32_t begin = block_x() / of.parts * of.each, part = block_x() % of.parts;
    uint32_t count = of.rows - begin < of.each ? of.rows - begin : of.each;
    uint32_t mine = begin + thread_id(), row = mine / a.steps, t = mine % a.steps;
    const uint32_t *record = nullptr;
    bool answers = thread_id() < count;
    if (answers && a.steps > 1 && !a.views)
        record = record_of_step(a, row, t, part == 0, &answers);
    else if (answers)
        record = record_of_row(a, row, t, a.views != 0);
    records[thread_id()] = record;
    sync_block();
    copy_records(a, begin, count, of.parts, records);
    if (answers && part == 0)
        put_answer(a, a.each || a.views ? mine : row, record);
}

/* As many blocks as the card holds at once, when they have a word a lane. */
void cuda_gather(struct machine *m, const struct op_gather *a)
{
    struct op_gather of_steps = *a;
    of_steps.steps = a->steps > 1 ? a->steps : 1;
    uint32_t words = a->ld + a->categories + 1, most = BLOCKS * device_sms(m);
    struct gather_share of = {a->rows * of_steps.steps, LANES_OF_BLOCK / words, 1};
    if (of.each < parts(of.rows, most))
        of.each = parts(of.rows, most);
    if (of.each > LANES_OF_BLOCK)
        of.each = LANES_OF_BLOCK;
    if (!of.rows)
        return;
    uint32_t blocks = parts(of.rows, of.each), pieces = parts(words, LANES_OF_BLOCK * AT_ONCE);
    if (blocks < most)
        of.parts = most / blocks < pieces ? most / blocks : pieces;
    LAUNCH(gather_rows, dim3(blocks * of.parts), dim3(LANES_OF_BLOCK), 0, m, of_steps, of);
}
