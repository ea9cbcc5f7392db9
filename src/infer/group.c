/* group.c - finds columns that name things with several rows each (customers, patients,
 * machines): a split by chance puts rows of one on both sides. */
#include <string.h>

#include "base/process/shell.h"
#include "base/text.h"
#include "infer/survey.h"

enum {
    LEAST = 20,      /* values of a column whose name or cells say what it is */
    CODES_LEAST = 50, /* of one with codes, which also tell of the target, .. */
    ROWS_MOST = 50   /* .. and the most rows for each */
};
#define TELLS 0.1 /* infer_column.alone */

static bool is_hex(char c)
{
    return text_is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

/* 16 digits of a hash or more, with or without the marks of a uuid. */
static bool is_hash(const char *text, size_t length)
{
    size_t digits = 0;
    for (size_t i = 0; i < length; i++)
        if (is_hex(text[i]))
            digits++;
        else if (!strchr("-{}", text[i]) || !text[i])
            return false;
    return digits >= 16;
}

/* a@b.c */
static bool is_address(const char *text, size_t length)
{
    const char *at = memchr(text, '@', length);
    if (!at || at == text || memchr(text, ' ', length))
        return false;
    const char *dot = memchr(at, '.', (size_t)(text + length - at));
    return dot && dot > at + 1 && dot + 1 < text + length;
}

int infer_id_shape(const char *text, size_t length)
{
    bool digit = false;
    if (is_hash(text, length) || is_address(text, length))
        return SHAPE_NAME;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == ' ' || text[i] == '\t' || text[i] == '\n')
            return SHAPE_NONE;
        digit |= text_is_digit(text[i]);
    }
    return digit && length >= 3 && length <= FORM_CELL ? SHAPE_CODE : SHAPE_NONE;
}

/* True: the values name things, and not kinds of things as cities and products do. */
static bool names_things(const struct column_profile *w, const struct infer_column *c,
                         uint64_t present)
{
    const uint64_t names = w->shapes[SHAPE_NAME];
    const uint64_t codes = names + w->shapes[SHAPE_CODE] + (w->padded ? w->whole : 0);
    const bool whole = w->whole == present;
    if (column_names_entity(c->name) && (w->others || whole))
        return true;
    if (names * 2 > present && (names + w->whole) * 20 >= present * 19)
        return true;
    return codes * 20 >= present * 19 && c->distinct >= CODES_LEAST &&
           present <= ROWS_MOST * c->distinct && c->alone >= TELLS && !column_names_kind(c->name);
}

/* True: an id or category with some of its values in several rows. */
static bool is_repeated(const struct column_profile *w, const struct infer_column *c, uint64_t rows)
{
    const uint64_t present = rows - c->missing;
    if (c->type == COLUMN_DATETIME || c->type == COLUMN_TEXT || c->form || c->unread ||
        c->distinct_capped || c->distinct < LEAST || present * 2 < rows ||
        (present - c->distinct) * 20 < present)
        return false;
    return names_things(w, c, present);
}

void infer_groups(const struct infer_request *r, const struct survey *s, struct infer *i)
{
    for (size_t k = 0; r->target && k < i->count; k++) {
        struct infer_column *c = &i->columns[k];
        if (k == i->target || infer_asked(r, c->name) ||
            !is_repeated(&s->profiles[k], c, i->rows))
            continue;
        const bool named = column_name_kind(c->name) == NAME_ID;
        c->repeats = true;
        infer_set(c, c->type,
                  "%sits %llu values come again, in %llu rows: a split by chance puts rows of one "
                  "on both sides; if it names what the rows belong to, --set %s --set "
                  "data.split.method=group",
                  named ? "its name is that of an identifier, and " : "",
                  (unsigned long long)c->distinct, (unsigned long long)(i->rows - c->missing),
                  shell_word("data.columns.%s=group", shell_key(c->name)));
    }
}
