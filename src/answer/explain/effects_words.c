/* effects_words.c - the words of a text that push the answers most; see effects.h. Words are the
 * words of the model's terms (table/schema/terms.h), in any case; a word is left out wherever it
 * stands in the text. The rows that have it are answered again without it. */
#include <math.h>
#include <string.h>

#include "answer/explain/effects_parts.h"
#include "base/mem.h"
#include "base/sort.h"
#include "table/schema/words.h"

/* A word of the column's texts. */
struct word {
    uint32_t id, rows, last; /* last: the row that was counted last */
    double weight;
};
struct words {
    struct sample *x;
    struct effect *f;
    uint32_t column;
    int rule; /* enum word_rule */
    struct vocab *vocab;
    struct word *list;
    uint32_t count;
    struct row_store store; /* the rows that have a word, without it */
    double *base, *weight; /* for the rows with the word: answers [][width] with it, and weights */
    struct weighted *values;
    struct text word, left; /* buffers: a word, a text without it */
};

static bool in_word(unsigned char c)
{
    return c > 127 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The next run of letters, digits and bytes above 127. */
static bool next_of_bytes(struct word_place *p, const char *text, size_t length)
{
    p->from = p->to;
    while (p->from < length && !in_word((unsigned char)text[p->from]))
        p->from++;
    for (p->to = p->from; p->to < length && in_word((unsigned char)text[p->to]);)
        p->to++;
    p->ascii = true; /* the case of others stays */
    return p->to > p->from;
}

/* The next word from p->to on, without its case in w->word. False: none. */
static bool next_word(struct words *w, struct word_place *p, const char *text, size_t length)
{
    text_clear(&w->word);
    if (!(w->rule == WORDS_BYTES ? next_of_bytes(p, text, length)
                                 : words_next(p, text, length, false)))
        return false;
    words_fold(&w->word, text, p);
    return true;
}

/* The text of a row; length 0: missing. */
static const char *text_of(const struct words *w, uint32_t row, size_t *length)
{
    const char *text = sample_cell(w->x, row, w->column, length);
    if (cell_is_missing(w->x->store.serve->schema, w->column, text, *length))
        *length = 0;
    return text;
}

static int by_rows(const void *a, const void *b, const void *context)
{
    const struct word *x = a, *y = b;
    size_t n, m;
    if (x->rows != y->rows)
        return x->rows > y->rows ? -1 : 1;
    const char *s = vocab_text(context, x->id, &n), *t = vocab_text(context, y->id, &m);
    int order = memcmp(s, t, n < m ? n : m);
    return order ? order : n < m ? -1 : n > m;
}

/* Lists the words, the most frequent first. */
static void list_words(struct words *w)
{
    for (uint32_t row = 0; row < w->x->store.rows; row++) {
        size_t length;
        const char *text = text_of(w, row, &length);
        for (struct word_place p = {0}; next_word(w, &p, text, length);) {
            uint32_t id = vocab_add(w->vocab, w->word.data, w->word.length);
            w->list = mem_more(w->list, w->count, sizeof *w->list);
            if (id == w->count)
                w->list[w->count++] = (struct word){.id = id, .last = UINT32_MAX};
            w->list[id].rows += w->list[id].last != row;
            w->list[id].weight += w->list[id].last != row ? w->x->weight[row] : 0;
            w->list[id].last = row;
        }
    }
    sort_stable(w->list, w->count, sizeof *w->list, by_rows, w->vocab);
}

/* Leaves the word out of a text, into w->left. False: it is not in it. */
static bool leave_out(struct words *w, const char *word, size_t word_length, const char *text,
                      size_t length)
{
    size_t done = 0;
    text_clear(&w->left);
    for (struct word_place p = {0}; next_word(w, &p, text, length);)
        if (w->word.length == word_length && memcmp(w->word.data, word, word_length) == 0) {
            text_add(&w->left, text + done, p.from - done);
            done = p.to;
        }
    text_add(&w->left, text + done, length - done);
    return done > 0;
}

/* Writes w->left into the row that was added last. */
static void place_text(struct words *w)
{
    struct row_store *k = &w->store;
    for (uint32_t i = 0; i < k->serve->encoder_count; i++) {
        const struct encoder *c = k->serve->encoders[i];
        const struct column_fit *fit = &c->columns[w->column];
        unsigned char *to = k->raw[i] + (k->rows - 1) * c->format.stride +
                            c->format.at_category + 4 * (size_t)fit->term;
        memset(to, 0, 4 * (size_t)fit->slots);
        if (w->left.length && !cell_is_missing(c->schema, w->column, w->left.data, w->left.length))
            encoder_place_text(c, w->column, &k->terms, w->left.data, w->left.length, to);
    }
}

static bool measure_word(struct words *w, const struct word *word, const double *base,
                         struct err *e)
{
    const uint32_t width = w->store.width;
    size_t word_length, length;
    const char *name = vocab_text(w->vocab, word->id, &word_length);
    store_clear(&w->store);
    for (uint32_t row = 0; row < w->x->store.rows; row++) {
        const char *text = text_of(w, row, &length);
        if (!leave_out(w, name, word_length, text, length))
            continue;
        memcpy(w->base + w->store.rows * width, base + row * width, width * sizeof *base);
        w->weight[w->store.rows] = w->x->weight[row];
        store_copy(&w->store, &w->x->store, row);
        place_text(w);
    }
    store_lines(&w->store);
    if (!store_answer(&w->store, NULL, NULL, e))
        return false;
    struct effect_point *p = &w->f->points[w->f->count++];
    *p = effect_point_new(EFFECT_WORD, name, word_length, w->x->r->classes);
    p->rows = word->rows;
    p->share = word->weight;
    spread_point(&(struct spread){.value = w->base, .minus = w->store.answer, .weight = w->weight,
                                  .count = w->store.rows, .width = width, .first = w->x->r->first,
                                  .classes = w->x->r->classes},
                 w->values, p);
    return true;
}

static double push(const struct effect_point *p, uint32_t classes)
{
    double sum = 0;
    for (uint32_t c = 0; c < classes; c++)
        sum += p->mean[c] * p->mean[c];
    return sum;
}

static int by_push(const void *one, const void *other, const void *classes)
{
    const uint32_t count = *(const uint32_t *)classes;
    const double a = push(one, count), b = push(other, count);
    return a > b ? -1 : a < b;
}

/* The words that push most, from the strongest down; the others are forgotten. */
static void keep_strongest(struct effect *f, uint32_t classes)
{
    sort_stable(f->points, f->count, sizeof *f->points, by_push, &classes);
    while (f->count > EFFECTS_WORDS)
        effect_point_free(&f->points[--f->count]);
}

bool effect_words(struct sample *x, struct effect *f, const double *base, struct err *e)
{
    const uint32_t column = f->unit->columns[0];
    struct words w = {.x = x, .f = f, .column = column, .vocab = vocab_new(),
                      .rule = x->store.serve->schema->columns[column].text.rule};
    const uint64_t rows = x->store.rows;
    const uint32_t least = rows >= 200 ? (uint32_t)(rows / 100) : 2; /* rows with a word */
    double all = 0;
    bool good = true;
    list_words(&w);
    store_open(&w.store, x->store.serve);
    store_middle(&w.store);
    w.base = mem_alloc(rows * w.store.width + 1, sizeof *w.base);
    w.weight = mem_alloc(rows + 1, sizeof *w.weight);
    w.values = mem_alloc(rows + 1, sizeof *w.values);
    f->points = mem_zero(EFFECTS_WORDS_TRIED, sizeof *f->points);
    for (uint64_t i = 0; i < rows; i++)
        all += x->weight[i];
    for (uint32_t i = 0; good && i < w.count && i < EFFECTS_WORDS_TRIED; i++)
        if (w.list[i].rows >= least)
            good = measure_word(&w, &w.list[i], base, e);
    for (uint32_t i = 0; i < f->count; i++)
        f->points[i].share /= all;
    keep_strongest(f, x->r->classes);
    vocab_free(w.vocab);
    mem_free(w.list);
    mem_free(w.base);
    mem_free(w.weight);
    mem_free(w.values);
    text_free(&w.word);
    text_free(&w.left);
    store_close(&w.store);
    return good;
}
