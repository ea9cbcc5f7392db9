/* table_cell.c - one record: runs of numbers are the same on every processor, and what a fitted
 * schema does with cells that training did not know. */
#include <stdlib.h>

#include "base/rng.h"
#include "csv/form/number.h"
#include "table/encoder/cell_run.h"
#include "table_help.h"

static uint64_t drawn;

static uint32_t draw(uint32_t below)
{
    return rng_bits(9, drawn++, 0, 0, RNG_TEST) % below;
}

/* --- runs --- */

static unsigned plain_read;

static size_t random_text(char *out)
{
    static const char letters[] = "0123456789..--+eE, 00/:\xff\x01";
    size_t n = 0, length = draw(30) ? draw(20) : draw(70);
    if (!draw(4)) { /* fifteen digits and a point */
        n = (size_t)snprintf(out, 24, "%07u%08u", draw(10000000), draw(100000000));
        size_t at = 1 + draw(14);
        memmove(out + at + 1, out + at, n - at);
        out[at] = '.';
        return n + 1;
    }
    if (draw(3))
        return (size_t)snprintf(out, 24, "%.*f", (int)draw(9),
                                ((double)draw(2000000) - 1000000) / 512);
    while (n < length)
        out[n++] = letters[draw(sizeof letters - 1)];
    return n;
}

/* Each cell in a block of its own size: a sanitizer sees a read beyond it. */
static bool same_run(cell_run_fn *read, size_t count, char decimal)
{
    struct csv_cell cells[NUMBER_RUN_MOST];
    double offsets[NUMBER_RUN_MOST];
    int32_t cell_of[NUMBER_RUN_MOST];
    float out[NUMBER_RUN_MOST];
    uint64_t bad = 0;
    bool together = draw(2);
    for (size_t i = 0; i < count; i++) {
        char text[80];
        size_t place = together ? i : count - 1 - i;
        size_t n = random_text(text);
        for (size_t k = 0; k < n && decimal == ','; k++)
            text[k] = text[k] == '.' ? ',' : text[k];
        char *own = malloc(n ? n : 1);
        memcpy(own, text, n);
        cells[place] = (struct csv_cell){.text = own, .length = (uint32_t)n};
        cell_of[i] = (int32_t)place;
        offsets[i] = draw(3) ? 0 : (double)draw(1000);
        if (!draw(4)) /* then all bits of the double count: the difference is 0 */
            number_parse(own, n, decimal, &offsets[i]);
        out[i] = -1.5F;
    }
    const struct cell_run r = {cell_of, cells,   offsets,
                               count,   together, decimal, (unsigned char *)out};
    bad = read(&r);
    bool same = count == NUMBER_RUN_MOST || bad >> count == 0;
    for (size_t i = 0; i < count; i++) {
        const struct csv_cell *cell = &cells[cell_of[i]];
        double v;
        bool good = number_parse(cell->text, cell->length, decimal, &v) == NUMBER_OK;
        bool done = !(bad >> i & 1);
        float want = done ? (float)(v - offsets[i]) : -1.5F;
        plain_read += done;
        if ((done && !good) || memcmp(&want, &out[i], sizeof want) != 0) {
            printf("# \"%.*s\"\n", (int)cell->length, cell->text);
            same = false;
        }
        /* what nearly every table holds must not take the slow road */
        const char *end = cell->text + cell->length;
        bool bare = good && (!strchr("-0123456789", *cell->text) || end[-1] == decimal ||
                             (*cell->text == '-' && cell->text[1] == decimal));
        bool is_short = good && !bare && cell->length <= 15 &&
                        !memchr(cell->text, 'e', cell->length) &&
                        !memchr(cell->text, 'E', cell->length);
        same &= done || !is_short;
    }
    for (size_t i = 0; i < count; i++) {
        union {
            const char *from;
            char *own;
        } text = {.from = cells[i].text};
        free(text.own);
    }
    return same;
}

static void test_runs(const char *name, cell_run_fn *read)
{
    bool same = true;
    plain_read = 0;
    for (size_t i = 0; i < 20000 && same; i++)
        same = same_run(read, 1 + (i % 4 ? draw(24) : draw(NUMBER_RUN_MOST)), i % 3 ? '.' : ',');
    ok(same && plain_read > 100000, "20000 runs by %s: the floats of number_parse; %u numbers",
       name, plain_read);
}

/* --- an encoder --- */

struct one_row {
    struct encoder *c;
    struct binding b;
    struct csv_cells cells;
    struct csv_block block;
    unsigned char record[256];
    struct drift *drift;
    struct err e;
};

static const char *const names[] = {"n", "c", "m", "f", "y", "w"};

/* raw: the numbers of another record; NULL: those of the line. */
static bool parse_as(struct one_row *r, const char *line, bool labelled, const unsigned char *raw)
{
    err_clear(&r->e);
    r->block =
        (struct csv_block){.bytes = line, .size = strlen(line), .path = "new.csv", .first_line = 7};
    return csv_cells_parse(&r->c->schema->dialect, &r->block, r->b.cells, &r->cells, &r->e) &&
           cell_parse(r->c, &r->b, &r->block, &r->cells, 0, labelled,
                      raw ? &(struct raw_record){r->c, raw} : NULL, r->record, r->drift, NULL,
                      &r->e);
}

static bool parse(struct one_row *r, const char *line, bool labelled)
{
    return parse_as(r, line, labelled, NULL);
}

static int32_t category(const struct one_row *r, uint32_t slot)
{
    int32_t v;
    memcpy(&v, r->record + r->c->format.at_category + 4 * slot, sizeof v);
    return v;
}

static int32_t label(const struct one_row *r)
{
    int32_t v;
    memcpy(&v, r->record + r->c->format.at_target, sizeof v);
    return v;
}

static void add_values(struct vocab *v)
{
    vocab_add(v, "a", 1);
    vocab_add(v, "b", 1);
}

static struct encoder *fit(struct schema *s)
{
    struct encoder *c = encoder_new(s);
    for (size_t i = 0; i < s->column_count; i++)
        if (c->columns[i].vocab)
            add_values(c->columns[i].vocab);
    add_values(s->labels);
    c->numbers[0].low = 0;
    c->numbers[0].high = 10;
    s->file_columns = 6;
    return c;
}

static void test_fitted(void)
{
    static const char config[] =
        "{\"data\": {\"train\": \"a\", \"target\": \"y\", \"columns\": {\"n\": \"numeric\", \"c\": "
        "\"categorical\", \"m\": {\"type\": \"categorical\", \"unknown\": \"missing\"}, \"f\": "
        "{\"type\": "
        "\"categorical\", \"unknown\": \"error\"}, \"w\": \"weight\"}}}";
    struct one_row r = {0};
    struct schema *s = schema_of(config, TASK_BINARY, &r.e);
    ok(s && schema_bind(s, names, 6, BIND_TARGET, &r.b, &r.e), "bound: %s", r.e.what);
    r.c = fit(s);
    r.drift = drift_new(r.c, NULL);
    ok(parse(&r, "5,a,b,a,b,2\n", true) && category(&r, 0) == 2 && category(&r, 1) == 3 &&
           label(&r) == 1,
       "known categories have their slots: %s", r.e.what);
    ok(parse(&r, "11,z,z,a,a,1\n", true) && category(&r, 0) == 1 && category(&r, 1) == 0 &&
           label(&r) == 0,
       "unknown ones are a bucket, or missing");
    ok(!parse(&r, "5,a,b,z,a,1\n", true) && r.e.id == ERR_CSV_UNKNOWN_CATEGORY && r.e.line == 7 &&
           r.e.column == 7,
       "or an error: %s", r.e.what);
    ok(!parse(&r, "5,a,b,a,z,1\n", true) && r.e.id == ERR_LABEL_UNSEEN &&
           strstr(r.e.expected, "\"a\", \"b\""),
       "N04 a label that training did not see: %s", r.e.what);
    ok(!parse(&r, "5,a,b,a,,1\n", true) && r.e.id == ERR_CSV_LABEL_MISSING,
       "no label where one is wanted");
    ok(parse(&r, "5,a,b,a,z,x\n", false) && label(&r) == -1,
       "predictions read neither target nor weight");
    ok(parse(&r, "NA,,,a,a,1\n", true) && category(&r, 0) == 0, "missing cells");
    is_int((int64_t)r.drift->outside[0], 1, "a number outside the range of training is counted");
    is_int((int64_t)r.drift->unknown[1], 1, "an unknown category is");
    is_int((int64_t)r.drift->missing[0], 1, "a missing number is");
    /* the numbers of another record, where missing ones are not an error of this encoder */
    unsigned char raw[sizeof r.record], whole[sizeof r.record];
    for (int i = 0; i < 2; i++) {
        const char *line = i ? "NA,a,b,b,z,1\n" : "5,a,b,b,z,1\n";
        ok(parse(&r, line, false), "a record");
        memcpy(raw, r.record, sizeof raw);
        memcpy(whole, r.record, sizeof whole);
        memset(r.record, 1, sizeof r.record);
        ok(parse_as(&r, line, false, raw) &&
               memcmp(r.record, whole, r.c->format.stride) == 0,
           "its numbers copied: the same record");
    }
    ok(parse_as(&r, "7,b,b,b,z,1\n", false, raw) && category(&r, 0) == 3 &&
           memcmp(r.record, raw, sizeof(float)) == 0,
       "categories are read again, numbers are not");
    s->columns[0].impute = IMPUTE_ERROR;
    ok(!parse_as(&r, "NA,a,b,b,z,1\n", false, raw), "a missing number, where that is an error");
    struct drift *sum = drift_new(r.c, NULL);
    drift_add(sum, r.drift, r.c);
    drift_add(sum, r.drift, r.c);
    is_int((int64_t)sum->outside[0], 2, "counts add up");
    drift_free(sum);
    drift_free(r.drift);
    csv_cells_free(&r.cells);
    binding_free(&r.b);
    encoder_free(r.c);
}

int main(void)
{
    test_runs("plain C", cell_run_plain);
#if defined(__x86_64__)
    if (cell_run_has_avx512())
        test_runs("avx512", cell_run_avx512);
    else
        tap_skip("runs by avx512", "not on this processor");
#endif
    test_fitted();
    return done();
}
