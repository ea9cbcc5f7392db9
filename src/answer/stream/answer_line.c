/* answer_line.c - see answer_line.h. Room for a whole line is made once, so that its parts are
 * plain copies. */
#include "answer/stream/answer_line.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/name_list.h"
#include "csv/field.h"
#include "measure/probability.h"

#define NUMBER_ROOM 32

/* Makes room for `more` bytes at the end. */
static char *reserve(struct text *out, size_t more)
{
    text_room(out, more);
    return out->data + out->length;
}

/* At most FIELD_BYTES. */
static char *put_field(const struct answer_line *l, char *to, const char *text, size_t length)
{
    if (l->quotes)
        return field_write(to, text, length, l->delimiter);
    if (length)
        memcpy(to, text, length);
    return to + length;
}

void answer_line_field(const struct answer_line *l, struct text *out, const char *text,
                       size_t length)
{
    char *from = reserve(out, 2 * length + 4), *to = from;
    if (out->length && out->data[out->length - 1] != '\n')
        *to++ = l->delimiter;
    to = put_field(l, to, text, length);
    out->length += (size_t)(to - from);
}

/* --- layout --- */

static void add_cell(struct answer_line *l, uint32_t cell)
{
    for (size_t i = 0; i < l->cell_count; i++)
        if (l->cells[i] == cell)
            return; /* an id is not repeated */
    l->cells[l->cell_count++] = cell;
}

/* The column whose name begins with this name and a comma, else the nearest name. */
static const char *begun_by(const struct binding *b, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; length && i < b->cells; i++)
        if (strncmp(b->names[i], name, length) == 0 && b->names[i][length] == ',')
            return b->names[i];
    return text_nearest(name, b->names, b->cells);
}

static void refuse_name(const struct binding *b, const char *name, struct err *e)
{
    const char *near = begun_by(b, name);
    err_set(e, ERR_OPTION_VALUE, "--passthrough: the input has no column \"%s\"",
            text_quote_z(name));
    if (near)
        err_help(e, "did you mean \"%s\"?%s", text_quote_z(near),
                 strchr(near, ',') ? " A name with a comma stands in double quotes, as in CSV"
                                   : "");
}

static bool add_named(struct answer_line *l, const struct binding *b, const char *list,
                       struct err *e)
{
    for (const char *from = list; from;) {
        size_t at = 0;
        char *name = name_list_next(&from, "--passthrough", e);
        while (name && at < b->cells && strcmp(b->names[at], name) != 0)
            at++;
        bool found = name && at < b->cells;
        if (found)
            add_cell(l, (uint32_t)at);
        else if (name)
            refuse_name(b, name, e);
        mem_free(name);
        if (!found)
            return false;
    }
    return true;
}

/* The column of a quantile, as "q0.05"; in room. */
static const char *quantile_name(const struct schema *s, uint32_t k, char room[32])
{
    snprintf(room, 32, "q%.9g", s->quantiles[k]);
    return room;
}

/* True: the output has a column of its own with that name. */
static bool is_own(const struct schema *s, int region, const char *name)
{
    static const char *const beside[][2] = {
        [ANSWER_ALONE] = {"", ""}, [ANSWER_INTERVAL] = {"low", "high"}, [ANSWER_SET] = {"set", ""}};
    for (int i = 0; region != ANSWER_ALONE && i < 2; i++)
        if (strcmp(name, beside[region][i]) == 0)
            return true;
    static const char prefix[] = "probability_";
    size_t cut = sizeof prefix - 1;
    if (s->labels && strncmp(name, prefix, cut) == 0 &&
        vocab_find(s->labels, name + cut, strlen(name + cut)) != UINT32_MAX)
        return true;
    char own[32];
    for (uint32_t k = 0; k < s->quantile_count; k++)
        if (strcmp(name, quantile_name(s, k, own)) == 0)
            return true;
    return !s->quantile_count && strcmp(name, "prediction") == 0;
}

bool answer_line_names(const struct schema *s, int region, struct err *e)
{
    for (size_t i = 0; i < s->column_count; i++) {
        const char *name = s->columns[i].name;
        if (s->columns[i].type != COLUMN_ID || !is_own(s, region, name))
            continue;
        err_set(e, ERR_CONFIG_COLUMNS,
                "predictions repeat the id column \"%s\", and have a column of their own of that "
                "name", text_quote_z(name));
        err_help(e, "rename it in the files, or give it the type \"ignore\"");
        return false;
    }
    return true;
}

bool answer_line_fine(const struct encoder *of)
{
    const struct target_coding *c = &of->coding;
    if (of->schema->task != TASK_REGRESSION)
        return false;
    return answer_coarse(coding_decode(c, 0),
                         c->transform ? (coding_decode(c, 1) - coding_decode(c, -1)) / 2
                                      : c->scale);
}

/* Refuses two columns of the same name in the output. */
static bool check_clash(const struct answer_line *l, const struct binding *b, size_t first,
                        struct err *e)
{
    for (size_t i = first; i < l->cell_count; i++) {
        const char *name = b->names[l->cells[i]];
        if (!is_own(l->schema, l->region, name))
            continue;
        err_set(e, ERR_OPTION_CONFLICT,
                "--passthrough repeats the input's column \"%s\", and the output has its own of "
                "that name", text_quote_z(name));
        return err_help(e, "rename the input's column, or leave it out of --passthrough");
    }
    return true;
}

/* A label of a set. */
static void add_escaped(struct text *to, const char *label, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (label[i] == '|' || label[i] == '\\')
            text_char(to, '\\');
        text_char(to, label[i]);
    }
}

bool answer_line_open(struct answer_line *l, const struct encoder *c, int region,
                      const struct binding *b, const char *passthrough, bool tsv,
                      const char *null_text, struct err *e)
{
    const struct schema *s = c->schema;
    *l = (struct answer_line){
        .delimiter = tsv ? '\t' : ',', .quotes = !tsv, .schema = s, .region = region};
    l->cells = mem_alloc(b->cells ? b->cells : 1, sizeof *l->cells);
    for (size_t i = 0; i < s->column_count; i++)
        if (s->columns[i].type == COLUMN_ID && b->cell_of[i] >= 0)
            add_cell(l, (uint32_t)b->cell_of[i]);
    size_t ids = l->cell_count;
    if (passthrough && strcmp(passthrough, "all") == 0) {
        for (uint32_t i = 0; i < b->cells; i++)
            add_cell(l, i);
    } else if (passthrough && !add_named(l, b, passthrough, e)) {
        return false;
    }
    if (!answer_line_names(s, region, e) || !check_clash(l, b, ids, e))
        return false;
    l->names = mem_zero(l->cell_count ? l->cell_count : 1, sizeof *l->names);
    for (size_t i = 0; i < l->cell_count; i++)
        l->names[i] = mem_string(b->names[l->cells[i]]);
    l->outputs = s->task == TASK_REGRESSION ? 0 : vocab_count(s->labels);
    l->values = schema_values(s);
    l->fine = answer_line_fine(c);
    l->labels = mem_zero(l->outputs ? l->outputs : 1, sizeof *l->labels);
    l->members = region == ANSWER_SET ? mem_zero(l->outputs, sizeof *l->members) : NULL;
    for (uint32_t i = 0; i < l->outputs; i++) {
        size_t length;
        const char *label = vocab_text(s->labels, i, &length);
        answer_line_field(l, &l->labels[i], label, length);
        if (l->members)
            add_escaped(&l->members[i], label, length);
    }
    if (null_text)
        answer_line_field(l, &l->missing, null_text, strlen(null_text));
    return true;
}

bool answer_line_turn(struct answer_line *l, const struct binding *b, struct err *e)
{
    for (size_t i = 0; i < l->cell_count; i++) {
        uint32_t at = 0;
        while (at < b->cells && strcmp(b->names[at], l->names[i]) != 0)
            at++;
        if (at == b->cells) {
            err_set(e, ERR_MODEL_COLUMN, "a later input lacks the column \"%s\", which the answers "
                    "repeat", text_quote_z(l->names[i]));
            return err_help(e, "every input has the columns of --passthrough, in any order");
        }
        l->cells[i] = at;
    }
    return true;
}

void answer_line_close(struct answer_line *l)
{
    for (size_t i = 0; l->names && i < l->cell_count; i++)
        mem_free(l->names[i]);
    mem_free(l->names);
    for (uint32_t i = 0; l->labels && i < l->outputs; i++)
        text_free(&l->labels[i]);
    for (uint32_t i = 0; l->members && i < l->outputs; i++)
        text_free(&l->members[i]);
    mem_free(l->labels);
    mem_free(l->members);
    mem_free(l->cells);
    text_free(&l->missing);
    memset(l, 0, sizeof *l);
}

/* --- lines --- */

static bool check_plain(const struct answer_line *l, const char *text, size_t length, struct err *e)
{
    if (l->quotes)
        return true;
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\t' || text[i] == '\n' || text[i] == '\r') {
            err_set(e, ERR_LABEL_TEXT,
                    "\"%s\" holds a tab or a line end, which --io tsv cannot write",
                    text_quote(text, length));
            return err_help(e, "use --io csv");
        }
    return true;
}

/* "prediction" or "probability", from the second one on with "_2", ..: number i of --top. */
static void top_name(const char *what, uint32_t i, struct text *out)
{
    text_clear(out);
    text_put(out, what);
    if (i)
        text_printf(out, "_%u", i + 1);
}

/* Adds the names of --top; false: one of them collides with a passthrough column. */
static bool add_top_names(const struct answer_line *l, const struct binding *b, struct text *out,
                          struct err *e)
{
    static const char *const what[] = {"prediction", "probability"};
    struct text name = {0};
    bool good = true;
    for (uint32_t k = 0; good && k < 2 * l->top; k++) {
        top_name(what[k % 2], k / 2, &name);
        answer_line_field(l, out, name.data, name.length);
        for (size_t i = 0; good && i < l->cell_count; i++)
            if (strcmp(b->names[l->cells[i]], name.data) == 0)
                good = err_set(e, ERR_OPTION_CONFLICT, "--top: the output has a column \"%s\" of "
                               "its own, and repeats the input's", name.data);
    }
    text_free(&name);
    return good;
}

bool answer_line_header(const struct answer_line *l, const struct binding *b, struct text *out,
                        struct err *e)
{
    struct text name = {0};
    bool good = true;
    for (size_t i = 0; i < l->cell_count && good; i++) {
        const char *text = b->names[l->cells[i]];
        good = check_plain(l, text, strlen(text), e);
        answer_line_field(l, out, text, strlen(text));
    }
    if (l->column)
        answer_line_field(l, out, l->column, strlen(l->column));
    if (l->top)
        good = good && add_top_names(l, b, out, e);
    for (uint32_t k = 0; k < l->schema->quantile_count; k++) {
        char own[32];
        quantile_name(l->schema, k, own);
        answer_line_field(l, out, own, strlen(own));
    }
    if (!l->top && !l->schema->quantile_count)
        answer_line_field(l, out, "prediction", 10);
    for (uint32_t i = 0; i < l->outputs && good && !l->top; i++) {
        size_t length;
        const char *label = vocab_text(l->schema->labels, i, &length);
        text_clear(&name);
        text_put(&name, "probability_");
        text_add(&name, label, length);
        good = check_plain(l, name.data, name.length, e);
        answer_line_field(l, out, name.data, name.length);
    }
    if (l->region == ANSWER_INTERVAL) {
        answer_line_field(l, out, "low", 3);
        answer_line_field(l, out, "high", 4);
    }
    if (l->region == ANSWER_SET)
        answer_line_field(l, out, "set", 3);
    if (l->uncertainty)
        answer_line_field(l, out, "uncertainty", 11);
    text_free(&name);
    text_char(out, '\n');
    return good;
}

/* The cells of the record that are repeated, each followed by a delimiter. A ragged record may lack
 * some. */
void answer_line_cells(const struct answer_line *l, const struct csv_cells *cells, size_t record,
                       struct text *out)
{
    if (l->cell_count == 0 && !l->column)
        return;
    const struct csv_record *r = cells ? &cells->records[record] : NULL;
    const struct csv_cell *all = cells ? cells->cells + r->first_cell : NULL;
    size_t length = l->column ? strlen(l->cell) : 0, room = 2 * length + 3;
    for (size_t i = 0; i < l->cell_count; i++)
        room += 3 + (r && l->cells[i] < r->cells ? 2 * (size_t)all[l->cells[i]].length : 0);
    char *from = reserve(out, room), *to = from;
    for (size_t i = 0; i < l->cell_count; i++) {
        if (r && l->cells[i] < r->cells)
            to = put_field(l, to, all[l->cells[i]].text, all[l->cells[i]].length);
        *to++ = l->delimiter;
    }
    if (l->column) {
        to = put_field(l, to, l->cell, length);
        *to++ = l->delimiter;
    }
    out->length += (size_t)(to - from);
}

static void add_number(const struct answer_line *l, double value, bool fine, struct text *out)
{
    char digits[NUMBER_ROOM];
    text_char(out, l->delimiter);
    text_add(out, digits, answer_value(digits, value, fine));
}

/* Writes the answer, then the others from the likeliest down; ties: the first label. */
static void add_top(const struct answer_line *l, const double *probability, struct text *out)
{
    uint32_t next = decision_label(l->decision, probability, l->outputs), first = next;
    for (uint32_t k = 0; k < l->top; k++) {
        uint32_t at = next;
        text_add(out, l->labels[at].data, l->labels[at].length);
        add_number(l, probability[at], false, out);
        text_char(out, k + 1 < l->top ? l->delimiter : '\n');
        next = UINT32_MAX;
        for (uint32_t c = 0; c < l->outputs; c++) {
            bool behind = k == 0 || probability[c] < probability[at] ||
                          (probability[c] == probability[at] && c > at);
            if (c != first && behind && (next == UINT32_MAX || probability[c] > probability[next]))
                next = c;
        }
    }
}

void answer_line_add(const struct answer_line *l, const struct csv_cells *cells, size_t record,
                     const double *answer, struct text *out)
{
    answer_line_cells(l, cells, record, out);
    if (l->outputs == 0) {
        char *from = reserve(out, l->values * (size_t)(NUMBER_ROOM + 1)), *to = from;
        for (uint32_t k = 0; k < l->values; k++) {
            to += answer_value(to, answer[k], l->fine);
            *to++ = k + 1 < l->values ? l->delimiter : '\n';
        }
        out->length += (size_t)(to - from);
        return;
    }
    if (l->top) {
        add_top(l, answer, out);
        return;
    }
    const struct text *label = &l->labels[decision_label(l->decision, answer, l->outputs)];
    char *from = reserve(out, label->length + (size_t)l->outputs * (NUMBER_ROOM + 1) + 1),
         *to = from;
    memcpy(to, label->data, label->length);
    to += label->length;
    for (uint32_t i = 0; i < l->outputs; i++) {
        *to++ = l->delimiter;
        to += answer_number(to, answer[i]);
    }
    *to++ = '\n';
    out->length += (size_t)(to - from);
}

void answer_line_more(const struct answer_line *l, double value, struct text *out)
{
    out->length--; /* the line end */
    add_number(l, value, false, out);
    text_char(out, '\n');
}

void answer_line_ends(const struct answer_line *l, const double ends[2], struct text *out)
{
    out->length--; /* the line end */
    add_number(l, ends[0], l->fine, out);
    add_number(l, ends[1], l->fine, out);
    text_char(out, '\n');
}

void answer_line_set(const struct answer_line *l, const struct conformal *c,
                     const double *probability, uint32_t answer, struct text *out)
{
    struct text set = {0};
    for (uint32_t i = 0; i < l->outputs; i++) {
        if (!conformal_holds(c, probability, answer, i))
            continue;
        if (set.length)
            text_char(&set, '|');
        text_add(&set, l->members[i].data, l->members[i].length);
    }
    out->length--; /* the line end */
    answer_line_field(l, out, set.data, set.length);
    text_char(out, '\n');
    text_free(&set);
}

void answer_line_null(const struct answer_line *l, const struct csv_cells *cells, size_t record,
                       struct text *out)
{
    answer_line_cells(l, cells, record, out);
    size_t fields = (l->top ? 2 * (size_t)l->top : (size_t)l->outputs + 1) + l->uncertainty;
    fields += l->values - 1;
    fields += l->region == ANSWER_INTERVAL ? 2 : l->region == ANSWER_SET;
    for (size_t i = 0; i < fields; i++) {
        text_add(out, l->missing.data, l->missing.length);
        text_char(out, i + 1 < fields ? l->delimiter : '\n');
    }
}
