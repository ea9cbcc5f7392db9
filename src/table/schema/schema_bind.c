/* schema_bind.c - matches the columns of a file to a schema by name. */
#include "table/schema/schema.h"

#include <string.h>

#include "base/mem.h"
#include "base/unicode.h"
#include "csv/first_lines.h"
#include "csv/form/number.h"

enum { MOST_NAMED = 12, MOST_NEAR = 4, MOST_COMPARED = 64 };

static bool reads_split(const struct schema *s, uint32_t column)
{
    for (size_t i = 0; i < s->split_column_count; i++)
        if (s->split_columns[i] == column)
            return true;
    return false;
}

static bool needed(const struct schema *s, uint32_t column, enum bind_need need)
{
    if (s->windows.window && (column == s->windows.group || column == s->windows.order))
        return true;
    switch ((enum column_type)s->columns[column].type) {
    case COLUMN_NUMERIC:
    case COLUMN_CATEGORICAL:
    case COLUMN_DATETIME:
    case COLUMN_TEXT:
        return true;
    case COLUMN_TARGET:
        return need >= BIND_TARGET;
    case COLUMN_ID:
    case COLUMN_WEIGHT:
        return bind_trains(need);
    case COLUMN_GROUP:
    case COLUMN_SPLIT:
        return need == BIND_SPLIT && reads_split(s, column);
    case COLUMN_IGNORE:
        return false;
    }
    return false;
}

bool schema_target_last(const struct schema *s)
{
    return s->file_columns > 0 &&
           strcmp(csv_numbered(s->file_columns - 1).text, s->columns[s->target].name) == 0;
}

/* Without names columns match by place: the file must be as wide as in training, or one less if the
 * target was last and is absent. Names from the user are matched as names. */
static bool check_width(const struct schema *s, const char *const *names, size_t count,
                        enum bind_need need, struct err *e)
{
    if (s->dialect.header || bind_trains(need) || count == s->file_columns)
        return true;
    bool numbered = true;
    for (size_t i = 0; i < count && numbered; i++)
        numbered = strcmp(csv_numbered(i).text, names[i]) == 0;
    if (!numbered || (need == BIND_FEATURES && schema_target_last(s) &&
                      count + 1 == s->file_columns))
        return true;
    err_set(e, ERR_FILE_WIDTH, "the file has %zu columns, and the model was trained on %u without "
            "header", count, s->file_columns);
    return err_help(e, "give a file with the same columns in the same order, or name them with "
                       "--columns a,b,c");
}

/* Names of the file that the schema lacks, for "did you mean"; each is suggested once. */
static void add_near(const struct schema *s, const char *const *names, size_t count,
                     const bool *listed, const uint32_t *missing, size_t missing_count,
                     struct text *help)
{
    const char **free_names = mem_alloc(count ? count : 1, sizeof *free_names);
    size_t known = 0, told = 0;
    for (size_t i = 0; i < count; i++)
        if (!listed[i])
            free_names[known++] = names[i];
    for (size_t i = 0; i < missing_count && i < MOST_COMPARED && told < MOST_NEAR; i++) {
        const char *want = s->columns[missing[i]].name;
        const char *near = text_nearest(want, free_names, known);
        if (!near)
            continue;
        text_printf(help, "%s\"%s\" for \"%s\"", told++ ? ", " : "did you mean ",
                    text_quote_z(near), text_quote_z(want));
        for (size_t k = 0; k < known; k++)
            if (free_names[k] == near) {
                free_names[k] = free_names[--known];
                break;
            }
    }
    if (told)
        text_char(help, '?');
    mem_free(free_names);
}

/* No similar name: list the file's names. */
static void help_names(const char *const *names, size_t count, struct err *e)
{
    struct text list = {0};
    for (size_t i = 0; i < count && i < MOST_NAMED; i++)
        text_printf(&list, "%s\"%s\"", i ? ", " : "", text_quote_z(names[i]));
    if (count > MOST_NAMED)
        text_printf(&list, " and %zu more", count - MOST_NAMED);
    err_help(e, "columns are matched by name; the file has %s", list.data);
    text_free(&list);
}

/* True if a name is a number and the schema has none of the names. */
static bool looks_like_data(const struct schema *s, const char *const *names, size_t count,
                            const struct binding *b)
{
    bool number = false;
    double v;
    for (size_t i = 0; i < count && !number; i++)
        number = number_parse(names[i], strlen(names[i]), s->decimal, &v) == NUMBER_OK;
    return number && b->extra == count && s->dialect.header;
}

static void help_header(bool trains, bool sure, struct err *e)
{
    const char *which = sure ? "the first line looks like data, not like names: " : "";
    const char *whether = sure ? "" : "if the file has no header line, ";
    if (!trains)
        err_help(e, "%s%sput %s in front of it (predict: --no-header and --columns a,b,c)", which,
                 whether, sure ? "a header line" : "one");
    else
        err_help(e, "%s%sset \"header\": false in data; its columns are then c1, c2, ...", which,
                 whether);
}

/* Names all missing columns; names that do not fit `what` continue in `more`. */
static bool report_missing(const struct schema *s, enum bind_need need, const struct binding *b,
                           const bool *listed, const uint32_t *missing, size_t missing_count,
                           struct err *e)
{
    const char *const *names = b->names;
    const size_t count = b->cells;
    const bool trains = bind_trains(need);
    struct text list = {0}, rest = {0}, help = {0};
    for (size_t i = 0; i < missing_count; i++) {
        const char *name = text_quote_z(s->columns[missing[i]].name);
        bool fits = !rest.length && list.length + strlen(name) + 64 < sizeof e->what;
        text_printf(fits ? &list : &rest, "%s\"%s\"", i ? ", " : "", name);
    }
    if (missing_count == 1 && !trains && missing[0] == s->target)
        err_set(e, ERR_MODEL_COLUMN, "the data lack the column %s: it is the target, and this "
                "command needs it; predict does not", list.data);
    else if (missing_count == 1)
        err_set(e, ERR_MODEL_COLUMN, "the data lack the column %s", list.data);
    else
        err_set(e, ERR_MODEL_COLUMN, "the data lack %zu columns: %s", missing_count, list.data);
    if (rest.length)
        err_more(e, rest.data);
    text_free(&rest);
    bool data = looks_like_data(s, names, count, b);
    if (!data)
        add_near(s, names, count, listed, missing, missing_count, &help);
    if (data)
        help_header(trains, true, e);
    else if (help.length)
        err_help(e, "%s", help.data);
    else if (count == 1)
        err_help(e, !trains
                        ? "the file has one column: is its delimiter that of the training file?"
                        : "the file has one column: check \"delimiter\" in the config");
    else if (b->extra == count && s->dialect.header)
        help_header(trains, false, e);
    else if (!trains)
        err_help(e, "columns are matched by name; `dnn inspect MODEL` lists those of the model");
    else
        help_names(names, count, e);
    text_free(&list);
    text_free(&help);
    return false;
}

/* True: a number may mean missing, so each cell must be compared. */
static bool numbers_may_miss(const struct opt_strings *missing)
{
    for (size_t i = 0; i < missing->count; i++) {
        const char *m = missing->items[i];
        m += *m == '-';
        if (*m >= '0' && *m <= '9')
            return true;
    }
    return false;
}

static void find_runs(const struct schema *s, struct binding *b)
{
    struct number_run *run = NULL;
    if (numbers_may_miss(&s->missing))
        return;
    b->runs = mem_alloc(s->column_count ? s->column_count : 1, sizeof *b->runs);
    for (uint32_t i = 0; i < s->column_count; i++) {
        const struct column *c = &s->columns[i];
        if (c->type != COLUMN_NUMERIC || c->form || b->cell_of[i] < 0 ||
            numbers_may_miss(&c->none)) {
            run = NULL;
            continue;
        }
        if (!run || run->count == NUMBER_RUN_MOST) {
            run = b->runs + b->run_count++;
            *run = (struct number_run){.column = i, .together = true};
        }
        run->together &= b->cell_of[i] == b->cell_of[run->column] + (int32_t)run->count;
        run->count++;
    }
}

static bool has_beyond_ascii(const char *name)
{
    while (*name && (unsigned char)*name < 0x80)
        name++;
    return *name != '\0';
}

/* The cell of a name: with the same bytes, else with the same letters if one of the two has its
 * accents apart; UINT32_MAX: none. */
static uint32_t find_cell(const struct vocab *known, const char *name)
{
    uint32_t cell = vocab_find(known, name, strlen(name));
    if (cell != UINT32_MAX || !has_beyond_ascii(name))
        return cell;
    struct text want = {0}, other = {0};
    unicode_map(&want, name, strlen(name), 0);
    for (uint32_t i = 0; i < vocab_count(known) && cell == UINT32_MAX; i++) {
        const char *text = vocab_text(known, i, NULL);
        if (!has_beyond_ascii(text))
            continue;
        text_clear(&other);
        unicode_map(&other, text, strlen(text), 0);
        if (strcmp(want.data, other.data) == 0)
            cell = i;
    }
    text_free(&want);
    text_free(&other);
    return cell;
}

/* Finds each column's cell by name. listed[cell]: the schema has that name. Fills missing with the
 * required columns that have no cell; returns their number. */
static size_t place_columns(const struct schema *s, enum bind_need need, struct binding *b,
                            bool *listed, uint32_t *missing)
{
    const char *const *names = b->names;
    const size_t count = b->cells;
    struct vocab *known = vocab_new(); /* the file's names; csv_header has checked for duplicates */
    for (size_t i = 0; i < count; i++) {
        vocab_add(known, names[i], strlen(names[i]));
        b->column_of[i] = UINT32_MAX;
    }
    size_t missing_count = 0;
    b->extra = (uint32_t)count;
    for (uint32_t i = 0; i < s->column_count; i++) {
        const char *name = s->columns[i].name;
        uint32_t cell = find_cell(known, name);
        bool reads = cell != UINT32_MAX && s->columns[i].type != COLUMN_IGNORE;
        if (cell != UINT32_MAX) {
            listed[cell] = true;
            b->extra--;
        }
        b->cell_of[i] = reads ? (int32_t)cell : -1;
        if (reads)
            b->column_of[cell] = i;
        else if (needed(s, i, need))
            missing[missing_count++] = i;
    }
    vocab_free(known);
    for (uint32_t i = 0, extra = 0; i < count && extra < BINDING_EXTRA; i++)
        if (!listed[i])
            b->extra_cells[extra++] = i;
    return missing_count;
}

bool schema_bind(const struct schema *s, const char *const *names, size_t count,
                 enum bind_need need, struct binding *b, struct err *e)
{
    *b = (struct binding){.cells = count, .weight = -1, .names = names};
    if (!check_width(s, names, count, need, e))
        return false;
    b->cell_of = mem_alloc(s->column_count ? s->column_count : 1, sizeof *b->cell_of);
    b->column_of = mem_alloc(count ? count : 1, sizeof *b->column_of);
    uint32_t *missing = mem_alloc(s->column_count ? s->column_count : 1, sizeof *missing);
    bool *listed = mem_zero(count ? count : 1, sizeof *listed);
    size_t missing_count = place_columns(s, need, b, listed, missing);
    bool good = !missing_count ||
                report_missing(s, need, b, listed, missing, missing_count, e);
    mem_free(missing);
    mem_free(listed);
    for (size_t i = 0; good && i < s->column_count; i++)
        if (s->columns[i].type == COLUMN_WEIGHT)
            b->weight = b->cell_of[i];
    if (good)
        find_runs(s, b);
    else
        binding_free(b);
    return good;
}

void schema_help_header(const struct schema *s, enum bind_need need, const struct csv_dialect *d,
                        const char *path, struct err *e)
{
    const char **wanted = mem_zero(s->column_count + 1, sizeof *wanted);
    size_t count = 0;
    for (size_t i = 0; i < s->column_count; i++)
        if (needed(s, (uint32_t)i, need) && i != s->target)
            wanted[count++] = s->columns[i].name;
    if (e->id == ERR_MODEL_COLUMN || e->id == ERR_CSV_HEADER_NAME ||
        e->id == ERR_CSV_HEADER_DUPLICATE || e->id == ERR_CSV_DELIMITER || e->id == ERR_CSV_QUOTE)
        first_lines_help(path, d, wanted, count, e);
    mem_free((void *)(uintptr_t)wanted);
}

void schema_bind_sample(const struct schema *s, struct binding *b)
{
    *b = (struct binding){.cells = s->column_count - 1, .weight = -1};
    b->cell_of = mem_alloc(s->column_count, sizeof *b->cell_of);
    b->column_of = mem_alloc(s->column_count, sizeof *b->column_of);
    for (uint32_t i = 0, cell = 0; i < s->column_count; i++) {
        bool reads = i != s->target && s->columns[i].type != COLUMN_IGNORE;
        b->cell_of[i] = reads ? (int32_t)cell : -1;
        if (i != s->target)
            b->column_of[cell++] = reads ? i : UINT32_MAX;
    }
    find_runs(s, b);
}

void binding_free(struct binding *b)
{
    mem_free(b->cell_of);
    mem_free(b->column_of);
    mem_free(b->runs);
    b->cell_of = NULL;
    b->column_of = NULL;
    b->runs = NULL;
    b->run_count = 0;
}
