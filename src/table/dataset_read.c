/* dataset_read.c - parses blocks in parallel and appends their rows in order. */
#include "table/dataset_read.h"

#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/thread.h"
#include "csv/scan.h"
#include "table/encoder.h"

#define CHUNK_BYTES ((size_t)4 << 20) /* at least this: base/mem then uses huge pages */
#define BLOCKS_A_HAND 16
#define BLOCKS_MOST 256
#define OFFSET_BYTES ((size_t)64 << 10) /* first bytes of the file, for schema_offsets_decide */
#define SPILL_ROWS 65536

/* --- values of a row --- */

void spill_add(struct spill *s, const void *values, uint64_t count)
{
    const unsigned char *from = values;
    while (s->size && count) {
        uint64_t chunk = s->count / SPILL_ROWS, at = s->count % SPILL_ROWS;
        if (at == 0) {
            s->chunks = mem_grow(s->chunks, chunk + 1, sizeof *s->chunks);
            s->chunks[chunk] = mem_alloc(SPILL_ROWS, s->size);
        }
        uint64_t now = SPILL_ROWS - at < count ? SPILL_ROWS - at : count;
        memcpy(s->chunks[chunk] + at * s->size, from, now * s->size);
        from += now * s->size;
        s->count += now;
        count -= now;
    }
}

void *spill_flat(struct spill *s)
{
    if (!s->size)
        return NULL;
    unsigned char *flat = mem_alloc(s->count ? s->count : 1, s->size);
    for (uint64_t at = 0; at < s->count; at += SPILL_ROWS) {
        uint64_t now = s->count - at < SPILL_ROWS ? s->count - at : SPILL_ROWS;
        memcpy(flat + at * s->size, s->chunks[at / SPILL_ROWS], now * s->size);
        mem_free(s->chunks[at / SPILL_ROWS]);
    }
    mem_free(s->chunks);
    s->chunks = NULL;
    s->count = 0;
    return flat;
}

void spill_free(struct spill *s)
{
    for (uint64_t at = 0; at < s->count; at += SPILL_ROWS)
        mem_free(s->chunks[at / SPILL_ROWS]);
    mem_free(s->chunks);
    *s = (struct spill){0};
}

/* --- one list of files --- */

struct load {
    struct reading *raw;
    struct schema *schema;
    bool (*stop)(void);
    struct csv *csv;
    struct csv_block ahead; /* read to decide offsets, not parsed yet */
    bool has_ahead;
    struct block_request request;
    struct csv_cells *cells; /* one for each of threads_hands() */
    struct block_rows *blocks;
    unsigned room, used;
    pthread_mutex_t lock; /* of csv, ahead, used, ended, stopped, error */
    bool ended, stopped;
    struct err error; /* of csv_next; after all blocks read before */
    uint64_t *first_row; /* by block: its first row */
    uint64_t unlabelled;
    int64_t unlabelled_lines[UNLABELLED_SHOWN];
    const char *unlabelled_path;
};

/* Reads the next block. Returns the place of its rows; NULL at the end. */
static struct block_rows *next_block(struct load *l, struct csv_block *block)
{
    if (l->ended)
        return NULL;
    if (l->stop && l->stop()) {
        l->stopped = l->ended = true;
        return NULL;
    }
    if (l->has_ahead) {
        *block = l->ahead;
        l->has_ahead = false;
    } else if (!csv_next(l->csv, block, &l->error)) {
        l->ended = true;
        l->stopped = l->error.id == ERR_NONE && l->stop && l->stop(); /* stopped while waiting */
        return NULL;
    }
    return l->blocks + l->used++;
}

/* Parses one block; its cells take several times its size. */
static void parse_tile(void *context, unsigned tile, unsigned hand)
{
    struct load *l = context;
    struct csv_block block;
    (void)tile; /* threads take blocks in the order of the file */
    pthread_mutex_lock(&l->lock);
    struct block_rows *b = next_block(l, &block);
    pthread_mutex_unlock(&l->lock);
    if (!b)
        return;
    block_parse(b, &l->request, &block, &l->cells[hand]);
    pthread_mutex_lock(&l->lock);
    csv_release(l->csv, &block);
    l->ended |= b->failed;
    pthread_mutex_unlock(&l->lock);
}

static bool add_chunks(struct reading *raw, uint64_t rows, struct err *e)
{
    struct dataset *t = raw->data;
    if (t->rows.count + rows >= UINT32_MAX)
        return err_set(e, ERR_CSV_LIMIT, "the files have more than %u rows", UINT32_MAX - 1);
    uint64_t in_chunk = UINT64_C(1) << t->rows.shift;
    while (raw->chunk_count * in_chunk < t->rows.count + rows) {
        if (raw->chunk_count % 64 == 0)
            raw->chunks = mem_grow(raw->chunks, raw->chunk_count + 64, sizeof *raw->chunks);
        raw->chunks[raw->chunk_count++] = mem_alloc(in_chunk, t->rows.format.stride);
        t->rows.chunks = raw->chunks;
    }
    return true;
}

static void add_sample(struct dataset *t, const struct block_rows *b, size_t cells)
{
    struct table_sample *to = &t->sample;
    uint32_t rows = TABLE_SAMPLE_ROWS - to->rows;
    rows = rows < b->sample_rows ? rows : b->sample_rows;
    if (!to->offsets) {
        to->cells = (uint32_t)cells;
        to->offsets = mem_zero(TABLE_SAMPLE_ROWS * cells + 1, sizeof *to->offsets);
    }
    size_t had = to->rows * cells, more = rows * cells;
    if (!more)
        return;
    uint64_t length = to->offsets[had], added = b->sample_ends[more - 1];
    to->text = mem_grow(to->text, length + added + 1, 1);
    if (added)
        memcpy(to->text + length, b->sample.data, added);
    to->text[length + added] = '\0';
    for (size_t i = 0; i < more; i++)
        to->offsets[had + i + 1] = length + b->sample_ends[i];
    to->rows += rows;
}

static void add_unlabelled(struct load *l, const struct block_rows *b)
{
    if (b->unlabelled && !l->unlabelled)
        l->unlabelled_path = b->path;
    for (uint64_t i = 0; i < b->unlabelled && i < UNLABELLED_SHOWN; i++)
        if (l->unlabelled + i < UNLABELLED_SHOWN)
            l->unlabelled_lines[l->unlabelled + i] = b->unlabelled_lines[i];
    l->unlabelled += b->unlabelled;
}

static void copy_tile(void *context, unsigned tile, unsigned thread)
{
    struct load *l = context;
    struct block_rows *b = l->blocks + tile;
    const struct rows *rows = &l->raw->data->rows;
    (void)thread;
    block_renumber(b);
    uint64_t in_chunk = UINT64_C(1) << rows->shift, stride = rows->format.stride;
    for (uint64_t done = 0; done < b->rows;) {
        uint64_t to = l->first_row[tile] + done, room = in_chunk - (to & (in_chunk - 1));
        uint64_t now = b->rows - done < room ? b->rows - done : room;
        memcpy(rows_at(rows, to), b->records + done * stride, now * stride);
        done += now;
    }
}

/* Appends the rows of a batch of blocks. False at the first bad record. */
static bool append(struct load *l, struct err *e)
{
    struct reading *raw = l->raw;
    struct dataset *t = raw->data;
    for (unsigned i = 0; i < l->used; i++) {
        struct block_rows *b = l->blocks + i;
        t->blank_lines += b->blank_lines;
        raw->data->left_out += b->left_out;
        t->vanished += b->drift.vanished;
        add_unlabelled(l, b);
        if (b->failed) {
            *e = b->error;
            return false;
        }
        l->first_row[i] = t->rows.count;
        if (!add_chunks(raw, b->rows, e))
            return false;
        t->rows.count += b->rows;
        spill_add(&raw->key, b->key, b->rows);
        spill_add(&raw->time, b->time, b->rows);
        spill_add(&raw->said, b->said, b->rows);
        spill_add(&raw->target, b->target, b->rows);
        block_merge(b, l->schema);
        if (t->sample.rows < TABLE_SAMPLE_ROWS)
            add_sample(t, b, l->schema->column_count - 1);
    }
    threads_run(l->used, copy_tile, l);
    return true;
}

static bool read_blocks(struct load *l, struct err *e)
{
    bool good = true;
    while (good && !l->ended) {
        l->used = 0;
        l->request.sample = l->raw->data->sample.rows < TABLE_SAMPLE_ROWS;
        threads_run_few(l->room, parse_tile, l);
        good = append(l, e);
        for (unsigned i = 0; i < l->used; i++)
            block_clear(l->blocks + i);
    }
    if (good && l->error.id != ERR_NONE) {
        *e = l->error;
        return false;
    }
    return good && !l->stopped;
}

/* Decides the offsets from the first rows of the first file, before parsing. */
static bool decide_offsets(struct load *l, struct err *e)
{
    const struct csv_dialect *d = l->request.dialect;
    struct csv_cells *cells = &l->cells[0];
    struct err ignored = {0};
    if (!csv_next(l->csv, &l->ahead, e))
        return e->id == ERR_NONE;
    l->has_ahead = true;
    struct csv_block head = l->ahead;
    head.size = cut_find(d, head.cr, head.bytes, head.size, OFFSET_BYTES, true);
    csv_cells_parse(d, &head, l->request.binding->cells, cells, &ignored); /* reported when the
                                                                            * block is parsed */
    schema_offsets_decide(l->schema, l->request.binding, cells);
    return true;
}

/* Allocates the blocks of a batch. Arrays that the split does not need stay NULL. */
static void prepare_blocks(struct load *l)
{
    unsigned wanted = threads_hands() * BLOCKS_A_HAND;
    l->room = wanted < BLOCKS_MOST ? wanted : BLOCKS_MOST;
    l->blocks = mem_zero(l->room, sizeof *l->blocks);
    l->first_row = mem_zero(l->room, sizeof *l->first_row);
    l->cells = mem_zero(threads_hands(), sizeof *l->cells);
    for (unsigned i = 0; i < l->room; i++) {
        struct block_rows *b = l->blocks + i;
        b->key = l->raw->key.size ? mem_alloc(1, sizeof *b->key) : NULL;
        b->time = l->raw->time.size ? mem_alloc(1, sizeof *b->time) : NULL;
        b->said = l->raw->said.size ? mem_alloc(1, sizeof *b->said) : NULL;
        b->target = l->raw->target.size ? mem_alloc(1, sizeof *b->target) : NULL;
    }
}

static void release(struct load *l)
{
    for (unsigned i = 0; i < l->room; i++)
        block_free(l->blocks + i);
    for (unsigned i = 0; l->cells && i < threads_hands(); i++)
        csv_cells_free(l->cells + i);
    mem_free(l->blocks);
    mem_free(l->first_row);
    mem_free(l->cells);
    if (l->has_ahead)
        csv_release(l->csv, &l->ahead);
    pthread_mutex_destroy(&l->lock);
}

static bool report_unlabelled(const struct load *l, struct err *e)
{
    struct text lines = {0};
    for (uint64_t i = 0; i < l->unlabelled && i < UNLABELLED_SHOWN; i++)
        text_printf(&lines, "%s%lld", i ? ", " : "", (long long)l->unlabelled_lines[i]);
    bool one = l->unlabelled == 1;
    err_at(e, ERR_CSV_LABEL_MISSING, l->unlabelled_path, l->unlabelled_lines[0], 0,
           "target \"%s\" is missing in %llu row%s (line%s %s%s)",
           text_quote_z(l->schema->columns[l->schema->target].name),
           (unsigned long long)l->unlabelled, one ? "" : "s", one ? "" : "s", lines.data,
           l->unlabelled > UNLABELLED_SHOWN ? ", ..." : "");
    text_free(&lines);
    for (size_t i = 0; i < l->schema->missing.count; i++)
        text_printf(&lines, "%s\"%s\"", i ? ", " : "", text_quote_z(l->schema->missing.items[i]));
    err_help(e,
             "take these rows out of the file, or, if one of data.missing [%.200s] is a "
             "class, the text out of that list",
             lines.data ? lines.data : "");
    text_free(&lines);
    return false;
}

/* Adds the file's name to the error of a missing column. */
static bool in_file(const struct opt_strings *files, struct err *e)
{
    if (e->id == ERR_MODEL_COLUMN && !e->file[0] && strlen(files->items[0]) < sizeof e->file)
        memcpy(e->file, files->items[0], strlen(files->items[0]) + 1);
    return false;
}

unsigned dataset_own_parts(const struct data_options *o)
{
    unsigned own = (unsigned)(o->valid.count > 0) << PART_VALID |
                   (unsigned)(o->test.count > 0) << PART_TEST;
    return o->split.method == SPLIT_COLUMN ? own : 0;
}

/* Reads the files of one part. Only those of data.train are split. */
static bool read_files(struct reading *raw, struct schema *s, const struct data_options *o,
                       int part, bool (*stop)(void), struct err *e)
{
    const struct opt_strings *files = part == PART_TRAIN   ? &o->train
                                      : part == PART_VALID ? &o->valid
                                                           : &o->test;
    enum bind_need need = part == PART_TRAIN ? BIND_SPLIT : BIND_TARGET;
    struct load l = {.raw = raw, .schema = s, .stop = stop, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct binding binding = {0};
    const char *const *names;
    size_t count;
    uint64_t before = raw->data->rows.count;
    l.csv = csv_open(&s->dialect, files->items, files->count, e);
    if (l.csv && stop)
        csv_set_stop(l.csv, stop);
    bool good = l.csv && csv_header(l.csv, &names, &count, e) &&
                (schema_bind(s, names, count, need, &binding, e) || in_file(files, e));
    if (good) {
        l.request = (struct block_request){
            .schema = s, .dialect = &s->dialect, .binding = &binding, .method = -1};
        if (part == PART_TRAIN) {
            l.request.method = o->split.method;
            l.request.own_parts = dataset_own_parts(o);
        } else if (o->split.method == SPLIT_GROUP) {
            l.request.groups = binding.cell_of[s->split_columns[0]] >= 0;
        }
        prepare_blocks(&l);
        if (part == PART_TRAIN) {
            struct csv_notes notes = csv_notes(l.csv);
            char note[200];
            if (csv_notes_text(&notes, note, sizeof note))
                remark_add(&raw->data->remarks, "%s", note);
            raw->data->extra_columns = binding.extra;
            s->file_columns = (uint32_t)count;
            good = decide_offsets(&l, e);
        }
        good = good && read_blocks(&l, e);
    }
    raw->data->rows_of[part] = raw->data->rows.count - before;
    if (good && l.unlabelled)
        good = report_unlabelled(&l, e);
    else if (good && !raw->data->rows_of[part] && !(part == PART_TRAIN && raw->data->left_out))
        good = err_at(e, ERR_CSV_NO_ROWS, files->items[0], 0, 0, "0 data rows");
    release(&l);
    csv_close(l.csv);
    binding_free(&binding);
    return good;
}

bool dataset_read(struct reading *raw, const struct data_options *o, bool (*stop)(void),
                  struct err *e)
{
    struct dataset *t = raw->data;
    struct schema *s = t->schema;
    const bool given[PARTS] = {true, o->valid.count > 0, o->test.count > 0};
    int method = o->split.method;
    t->rows.format = s->format;
    while (((size_t)s->format.stride << t->rows.shift) < CHUNK_BYTES)
        t->rows.shift++;
    raw->key.size = method == SPLIT_GROUP || method == SPLIT_HASH ? sizeof(uint64_t) : 0;
    raw->time.size = method == SPLIT_TIME ? sizeof(double) : 0;
    raw->said.size = method == SPLIT_COLUMN ? sizeof(uint8_t) : 0;
    raw->target.size = s->task == TASK_REGRESSION ? sizeof(double) : 0;
    for (int part = PART_TRAIN; part < PARTS; part++)
        if (given[part] && !read_files(raw, s, o, part, stop, e))
            return false;
    return true;
}
