/* dataset_read.c - parses blocks in parallel and appends their rows in order. A thread that has
 * parsed a block appends all that is ready; a block waits only for the blocks before it. */
#include "table/dataset/dataset_read.h"

#include <pthread.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/process/progress.h"
#include "base/text.h"
#include "base/process/thread.h"
#include "csv/scan.h"
#include "table/encoder/encoder.h"

#define CHUNK_BYTES ((size_t)4 << 20) /* at least this: base/mem then uses huge pages */
#define BLOCKS_A_HAND 3 /* one is parsed, one copied, one waits for an earlier one */
#define OFFSET_BYTES ((size_t)64 << 10) /* first bytes of the file, for schema_offsets_decide */
#define SPILL_ROWS 65536

/* --- values of a row --- */

static void spill_add(struct spill *s, const void *values, uint64_t count)
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
    const struct stopper *stop;
    struct progress_amount progress;
    uint64_t bytes; /* of the blocks so far */
    unsigned workers; /* 0: threads_hands() */
    struct csv *csv;
    struct csv_block ahead; /* read to decide offsets, not parsed yet */
    bool has_ahead;
    struct block_request request;
    struct csv_cells *cells; /* one for each of threads_hands() */
    struct block_rows *blocks; /* block n of the file is in blocks[n % room] */
    unsigned room;
    pthread_mutex_t lock; /* of all but the blocks' contents */
    pthread_cond_t copied;
    uint64_t begun, appended; /* blocks */
    bool ended, stopped, failed;
    struct err error;   /* of csv_next; after all blocks read before */
    struct err failure; /* of the first bad record */
    uint64_t weightless, unlabelled;
    int64_t unlabelled_lines[UNLABELLED_SHOWN];
    const char *unlabelled_path;
};

/* Reads the next block, with the lock. Returns the place of its rows; NULL at the end. */
static struct block_rows *next_block(struct load *l, struct csv_block *block)
{
    struct block_rows *b;
    while (b = l->blocks + l->begun % l->room, !l->ended && b->state != BLOCK_FREE)
        pthread_cond_wait(&l->copied, &l->lock);
    if (l->ended)
        return NULL;
    if (stopper_asked(l->stop)) {
        l->stopped = l->ended = true;
        return NULL;
    }
    if (l->has_ahead) {
        *block = l->ahead;
        l->has_ahead = false;
    } else if (!csv_next(l->csv, block, &l->error)) {
        l->ended = true;
        l->stopped = l->error.id == ERR_NONE && stopper_asked(l->stop); /* stopped while waiting */
        return NULL;
    }
    b->state = BLOCK_BEGUN;
    l->begun++;
    l->bytes += block->size;
    progress_amount(&l->progress, (double)l->bytes, (double)csv_size(l->csv));
    return b;
}

static bool add_chunks(struct reading *raw, uint64_t rows, struct err *e)
{
    struct dataset *t = raw->data;
    if (t->rows.count + rows >= UINT32_MAX)
        return err_set(e, ERR_CSV_LIMIT, "the files have more than %u rows", UINT32_MAX - 1);
    uint64_t in_chunk = UINT64_C(1) << t->rows.shift;
    while (raw->chunk_count * in_chunk < t->rows.count + rows) {
        if (raw->chunk_count % 64 == 0) {
            raw->chunks = mem_grow(raw->chunks, raw->chunk_count + 64, sizeof *raw->chunks);
            t->hash = mem_grow(t->hash, raw->chunk_count + 64, sizeof *t->hash);
        }
        t->hash[raw->chunk_count] = mem_alloc(in_chunk, sizeof **t->hash);
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

/* Lists the parts of chunks that the rows of a block go to: the arrays of chunks may move
 * meanwhile. */
static void find_pieces(const struct dataset *d, struct block_rows *b)
{
    uint64_t in_chunk = UINT64_C(1) << d->rows.shift, done = 0;
    size_t most = (b->rows >> d->rows.shift) + 2;
    b->piece_count = 0;
    b->pieces = mem_grow(b->pieces, most, sizeof *b->pieces);
    while (done < b->rows) {
        uint64_t to = d->rows.count + done, at = to & (in_chunk - 1), rows = in_chunk - at;
        rows = b->rows - done < rows ? b->rows - done : rows;
        b->pieces[b->piece_count++] = (struct block_piece){
            rows_at(&d->rows, to), d->hash[to >> d->rows.shift] + at, rows};
        done += rows;
    }
}

/* Appends the rows of a block, but for their bytes. False: it has the first bad record. */
static bool append(struct load *l, struct block_rows *b, struct err *e)
{
    struct reading *raw = l->raw;
    struct dataset *t = raw->data;
    t->blank_lines += b->blank_lines;
    t->left_out += b->left_out;
    t->vanished += b->vanished;
    l->weightless += b->weightless;
    add_unlabelled(l, b);
    if (b->failed) {
        *e = b->error;
        return false;
    }
    if (!add_chunks(raw, b->rows, e))
        return false;
    find_pieces(t, b);
    t->rows.count += b->rows;
    block_merge(b, l->schema);
    for (int k = 0; k < ROW_VALUES; k++)
        spill_add(&raw->values[k], b->values[k], b->rows);
    if (t->sample.rows < TABLE_SAMPLE_ROWS)
        add_sample(t, b, l->schema->column_count - 1);
    return true;
}

/* With the lock: appends the blocks that are parsed, in the order of the file, and copies their
 * rows without the lock. */
static void append_parsed(struct load *l)
{
    for (;;) {
        struct block_rows *b = l->blocks + l->appended % l->room;
        if (l->failed || b->state != BLOCK_PARSED)
            return;
        if (!append(l, b, &l->failure)) {
            l->failed = l->ended = true;
            pthread_cond_broadcast(&l->copied);
            return;
        }
        l->appended++;
        b->state = BLOCK_BEGUN; /* being copied */
        pthread_mutex_unlock(&l->lock);
        block_copy(b);
        block_clear(b);
        pthread_mutex_lock(&l->lock);
        b->state = BLOCK_FREE;
        pthread_cond_broadcast(&l->copied);
    }
}

/* A thread of the pool: parses blocks until the end. Which block, is chance; the rows are not. */
static void parse_blocks(void *context, unsigned tile, unsigned hand)
{
    struct load *l = context;
    struct csv_block block;
    struct block_rows *b;
    (void)tile;
    pthread_mutex_lock(&l->lock);
    while ((b = next_block(l, &block))) {
        struct block_request request = l->request;
        request.sample = l->raw->data->sample.rows < TABLE_SAMPLE_ROWS;
        pthread_mutex_unlock(&l->lock);
        block_parse(b, &request, &block, &l->cells[hand]);
        pthread_mutex_lock(&l->lock);
        csv_release(l->csv, &block);
        l->ended |= b->failed;
        b->state = BLOCK_PARSED;
        append_parsed(l);
    }
    pthread_cond_broadcast(&l->copied); /* the others end, too */
    pthread_mutex_unlock(&l->lock);
}

static bool read_blocks(struct load *l, struct err *e)
{
    threads_run_few(l->workers ? l->workers : threads_hands(), parse_blocks, l);
    if (l->failed || l->error.id != ERR_NONE) {
        *e = l->failed ? l->failure : l->error;
        return false;
    }
    return !l->stopped;
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
    dataset_note_aside(l->schema, l->request.binding, cells);
    return true;
}

static void prepare_blocks(struct load *l)
{
    l->room = threads_hands() * BLOCKS_A_HAND;
    l->blocks = mem_zero(l->room, sizeof *l->blocks);
    l->cells = mem_zero(threads_hands(), sizeof *l->cells);
}

static void release(struct load *l)
{
    for (unsigned i = 0; i < l->room; i++)
        block_free(l->blocks + i);
    for (unsigned i = 0; l->cells && i < threads_hands(); i++)
        csv_cells_free(l->cells + i);
    mem_free(l->blocks);
    mem_free(l->cells);
    if (l->has_ahead)
        csv_release(l->csv, &l->ahead);
    pthread_mutex_destroy(&l->lock);
    pthread_cond_destroy(&l->copied);
}

/* Rows without a target are left out. */
static void note_unlabelled(const struct load *l, uint64_t rows)
{
    struct text lines = {0};
    for (uint64_t i = 0; i < l->unlabelled && i < UNLABELLED_SHOWN; i++)
        text_printf(&lines, "%s%lld", i ? ", " : "", (long long)l->unlabelled_lines[i]);
    log_note("%s: target \"%s\" is missing in %llu of %llu rows (line%s %s%s): left out",
             text_quote_z(l->unlabelled_path),
             text_quote_z(l->schema->columns[l->schema->target].name),
             (unsigned long long)l->unlabelled, (unsigned long long)(rows + l->unlabelled),
             l->unlabelled == 1 ? "" : "s", lines.data,
             l->unlabelled > UNLABELLED_SHOWN ? ", ..." : "");
    text_free(&lines);
}

/* Rows of weight 0 count for nothing. rows: the others. False: no others. */
static bool tell_weightless(const struct load *l, int part, uint64_t rows, const char *path,
                            struct err *e)
{
    unsigned long long idle = l->weightless;
    if (rows)
        log_note("%s: the weight is 0 in %llu of %llu rows, which count for nothing: left out",
                 text_quote_z(path), idle, (unsigned long long)rows + idle);
    if (rows || l->unlabelled)
        return true;
    err_at(e, ERR_WEIGHT_SUM, path, 0, 0, "the weight of each of the %llu %s rows is 0", idle,
           part_names[part]);
    return err_help(e, "rows of weight 0 count for nothing: let some weigh more, or choose other "
                       "rows (data.%s)", part_words[part]);
}

/* No row of the files has a target. */
static bool report_unlabelled(const struct load *l, struct err *e)
{
    struct text lines = {0};
    err_at(e, ERR_CSV_LABEL_MISSING, l->unlabelled_path, l->unlabelled_lines[0], 0,
           "target \"%s\" is missing in every row, %llu in all",
           text_quote_z(l->schema->columns[l->schema->target].name),
           (unsigned long long)l->unlabelled);
    for (size_t i = 0; i < l->schema->missing.count; i++)
        text_printf(&lines, "%s\"%s\"", i ? ", " : "", text_quote_z(l->schema->missing.items[i]));
    err_help(e,
             "name another column with data.target, or, if one of data.missing [%.200s] is a "
             "class, take the text out of that list",
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
                       int part, const struct stopper *stop, struct err *e)
{
    const struct opt_strings *files = data_files(o, part);
    enum bind_need need = part == PART_TRAIN ? BIND_SPLIT : BIND_PART;
    struct load l = {.raw = raw,
                     .schema = s,
                     .stop = stop,
                     .workers = (unsigned)o->workers,
                     .lock = PTHREAD_MUTEX_INITIALIZER,
                     .copied = PTHREAD_COND_INITIALIZER};
    struct binding binding = {0};
    const char *const *names;
    size_t count;
    uint64_t before = raw->data->rows.count;
    progress_amount_open(&l.progress, (enum progress_style)o->progress, "reading", NULL);
    l.csv = csv_open(&s->dialect, files->items, files->count, e);
    if (l.csv && stop)
        csv_set_stop(l.csv, stop);
    struct csv_choice first = {.count = o->limit};
    if (l.csv && o->limit && part == PART_TRAIN)
        csv_choose(l.csv, &first);
    bool good = l.csv && csv_header(l.csv, &names, &count, e) &&
                (schema_bind(s, names, count, need, &binding, e) || in_file(files, e));
    if (!good && l.csv)
        schema_help_header(s, BIND_PART, &s->dialect, files->items[0], e);
    if (part == PART_TEST)
        binding.weight = -1; /* test rows of weight 0 stay: nothing is fitted on them */
    if (good) {
        l.request = (struct block_request){
            .schema = s, .dialect = &s->dialect, .binding = &binding,
            .stored = raw->values, .method = -1,
            .group_column = schema_group_column(s)};
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
            notes.unnamed = false; /* the config names the column, or it is not used */
            if (csv_notes_text(&notes, note, sizeof note))
                remark_add(&raw->data->remarks, "%s", note);
            raw->data->extra_columns = binding.extra;
            s->file_columns = (uint32_t)count;
            good = decide_offsets(&l, e);
        }
        good = good && read_blocks(&l, e);
    }
    progress_amount_close(&l.progress);
    if (good && csv_looks_utf8(l.csv))
        remark_add(&raw->data->remarks,
                   "all text beyond ASCII in \"%.80s\" is valid UTF-8, and it is read as %s: set "
                   "data.encoding to \"utf-8\"",
                   text_quote_z(files->items[0]), csv_encoding_names[s->dialect.encoding]);
    struct text foreign = {0};
    if (good && csv_looks_foreign(l.csv, &foreign))
        remark_add(&raw->data->remarks, "%s", foreign.data);
    text_free(&foreign);
    raw->data->rows_of[part] = raw->data->rows.count - before;
    raw->data->unlabelled += l.unlabelled;
    if (good && l.weightless)
        good = tell_weightless(&l, part, raw->data->rows_of[part], files->items[0], e);
    if (good && l.unlabelled && raw->data->rows_of[part])
        note_unlabelled(&l, raw->data->rows_of[part]);
    else if (good && l.unlabelled)
        good = report_unlabelled(&l, e);
    else if (good && !raw->data->rows_of[part] && !l.weightless &&
             !(part == PART_TRAIN && raw->data->left_out))
        good = err_at(e, ERR_CSV_NO_ROWS, files->items[0], 0, 0, "0 data rows");
    release(&l);
    csv_close(l.csv);
    binding_free(&binding);
    return good;
}

bool dataset_read(struct reading *raw, const struct data_options *o, const struct stopper *stop,
                  struct err *e)
{
    struct dataset *t = raw->data;
    struct schema *s = t->schema;
    const bool given[PARTS] = {true, o->valid.count > 0, o->test.count > 0};
    int method = o->split.method;
    t->rows.format = s->raw;
    while (((size_t)s->raw.stride << t->rows.shift) < CHUNK_BYTES)
        t->rows.shift++;
    t->grouped = method == SPLIT_GROUP;
    const bool own = !t->grouped && !s->windows.window && schema_group_column(s) != UINT32_MAX;
    const size_t sizes[ROW_VALUES] = {
        [VALUE_KEY] = method == SPLIT_GROUP || method == SPLIT_HASH ? sizeof(uint64_t) : 0,
        [VALUE_GROUP] = own ? sizeof(uint64_t) : 0,
        [VALUE_TIME] = method == SPLIT_TIME ? sizeof(double) : 0,
        [VALUE_SAID] = method == SPLIT_COLUMN ? sizeof(uint8_t) : 0,
        [VALUE_TARGET] = s->task == TASK_REGRESSION ? sizeof(double) : 0,
        [VALUE_LABEL] = s->labels && !s->windows.window ? sizeof(int32_t) : 0,
        [VALUE_STEP] = s->windows.window ? sizeof(struct series_step) : 0};
    for (int k = 0; k < ROW_VALUES; k++)
        raw->values[k].size = sizes[k];
    for (int part = PART_TRAIN; part < PARTS; part++)
        if (given[part] && !read_files(raw, s, o, part, stop, e))
            return false;
    return true;
}
