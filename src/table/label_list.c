/* label_list.c - see label_list.h. */
#include "table/label_list.h"

#include <string.h>

#include "base/mem.h"

enum { LABELS_LEAST = 3, LABELS_READ = 20000 };
#define RECUR 0.8   /* share of the pieces that stand in two labels at least */
#define LISTS 0.25  /* share of the labels that have two pieces at least */

struct pieces {
    struct vocab *known;
    uint32_t *labels, *last; /* by piece: labels that hold it, and the last of them, from 1 */
    size_t room;
    uint32_t lists;          /* labels of two pieces and more */
    const char *example;     /* the first of them */
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

/* Cuts a label at the separator, without blanks, quotes and brackets around the pieces. */
static void cut_label(struct pieces *p, uint32_t label, const char *text, char separator)
{
    uint32_t found = 0;
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
            found++;
        }
    }
    if (found >= 2 && !p->lists++)
        p->example = text;
}

static bool are_lists(const struct pieces *p, uint32_t labels)
{
    uint32_t pieces = vocab_count(p->known), recur = 0;
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
            cut_label(&p, i, vocab_text(labels, i, NULL), separators[k]);
        found = are_lists(&p, count);
        if (found) {
            char name[40];
            size_t length;
            const char *one = vocab_text(p.known, 0, &length);
            length = length < sizeof name ? length : sizeof name - 1;
            memcpy(name, one, length);
            name[length] = '\0';
            text_printf(out, "cells of \"%.30s\" hold several labels (\"%.30s\"), and each "
                        "combination counts as a class: dnn learns one label a row; ",
                        text_quote_z(target), text_quote_z(p.example));
            text_printf(out, "add a column of 1 and 0 for each label, and train one model of each "
                        "(dnn init FILE --target \"%.20s\")", text_quote_z(name));
        }
        vocab_free(p.known);
        mem_free(p.labels);
        mem_free(p.last);
    }
    return found;
}
