/* label_list.c - see label_list.h. */
#include "table/schema/label_list.h"

#include <string.h>

#include "base/mem.h"
#include "base/process/shell.h"

enum { LABELS_LEAST = 2, LABELS_READ = 20000 };
#define RECUR 0.8   /* share of the pieces that stand in two labels at least */
#define LISTS 0.25  /* share of the labels that have two pieces at least */
#define WHOLE 0.5   /* share of the lists with a piece that is also a label alone */

struct pieces {
    struct vocab *known;
    uint32_t *labels, *last; /* by piece: labels that hold it, and the last of them, from 1 */
    size_t room;
    uint32_t lists;          /* labels of two pieces and more */
    uint32_t whole;          /* lists with a piece that is also a label alone, e.g. a|b and a */
    uint32_t quoted;         /* labels as ['a', 'b'] */
    bool spaced;             /* pieces of lists have blanks inside, as of A|B test */
    const char *example;     /* the first list */
};

static bool is_edge(char c)
{
    return c == ' ' || c == '"' || c == '\'' || c == '[' || c == ']' || c == '{' || c == '}' ||
           c == '(' || c == ')';
}

static void add_piece(struct pieces *p, uint32_t label, const char *text, size_t length)
{
    uint32_t at = vocab_add(p->known, text, length);
    if (at >= p->room) {
        size_t room = 2 * p->room + 256;
        p->labels = mem_grow(p->labels, room, sizeof *p->labels);
        p->last = mem_grow(p->last, room, sizeof *p->last);
        memset(p->labels + p->room, 0, (room - p->room) * sizeof *p->labels);
        memset(p->last + p->room, 0, (room - p->room) * sizeof *p->last);
        p->room = room;
    }
    p->labels[at] += p->last[at] != label + 1;
    p->last[at] = label + 1;
}

/* ['a', 'b'], ["a"] or []: a list as programs print it. */
static bool is_quoted(const char *text)
{
    const size_t length = strlen(text);
    if (length < 2 || text[0] != '[' || text[length - 1] != ']')
        return false;
    return length == 2 || (length >= 4 && strchr("'\"", text[1]) && text[length - 2] == text[1]);
}

/* Cuts a label at the separator, without blanks, quotes and brackets around the pieces. */
static void cut_label(struct pieces *p, const struct vocab *labels, uint32_t label,
                      const char *text, char separator)
{
    uint32_t found = 0;
    bool whole = false, spaced = false;
    for (const char *from = text, *end; from; from = end ? end + 1 : NULL) {
        end = strchr(from, separator);
        size_t length = end ? (size_t)(end - from) : strlen(from);
        const char *piece = from;
        for (; length && is_edge(*piece); length--)
            piece++;
        while (length && is_edge(piece[length - 1]))
            length--;
        if (length) {
            add_piece(p, label, piece, length);
            whole |= vocab_find(labels, piece, length) != UINT32_MAX;
            spaced |= memchr(piece, ' ', length) != NULL;
            found++;
        }
    }
    p->quoted += is_quoted(text);
    if (found < 2)
        return;
    if (!p->lists++)
        p->example = text;
    p->whole += whole;
    p->spaced |= spaced;
}

/* True: the labels are lists. Few labels may be lists whose pieces do not recur: then a separator
 * that names do not use proves it if a piece is a label too. */
static bool are_lists(const struct pieces *p, uint32_t labels, char separator)
{
    uint32_t pieces = vocab_count(p->known), recur = 0;
    if (separator == ',' && p->quoted == labels && p->lists)
        return true;
    if (separator != ',' && p->lists >= LISTS * labels && p->whole && !p->spaced &&
        p->whole >= WHOLE * p->lists)
        return true;
    for (uint32_t i = 0; i < pieces; i++)
        recur += p->labels[i] >= 2;
    return pieces >= 2 && pieces <= labels && p->lists >= LISTS * labels && recur >= RECUR * pieces;
}

bool label_list_tell(const struct vocab *labels, const char *target, struct text *out)
{
    static const char separators[] = "|;,";
    uint32_t count = vocab_count(labels);
    bool found = false;
    count = count < LABELS_READ ? count : LABELS_READ;
    for (size_t k = 0; separators[k] && !found && count >= LABELS_LEAST; k++) {
        struct pieces p = {.known = vocab_new()};
        for (uint32_t i = 0; i < count; i++)
            cut_label(&p, labels, i, vocab_text(labels, i, NULL), separators[k]);
        found = are_lists(&p, count, separators[k]);
        if (found) {
            text_printf(out, "cells of \"%s\" hold several labels (\"%s\"), and each "
                        "combination counts as a class: dnn learns one label a row; ",
                        text_quote_z(target), text_quote_z(p.example));
            text_printf(out, "add a column of 1 and 0 for each label, and train one model of each "
                        "(`dnn init FILE --target %s`)",
                        shell_word("%s", vocab_text(p.known, 0, NULL)));
        }
        vocab_free(p.known);
        mem_free(p.labels);
        mem_free(p.last);
    }
    return found;
}
