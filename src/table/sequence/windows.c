/* windows.c - see windows.h. */
#include "table/sequence/windows.h"

#include "base/mem.h"

struct window window_at(const struct windows *w, uint64_t rows, uint64_t k)
{
    const uint64_t first = k * w->stride, left = rows - first;
    const uint32_t length = left < w->window ? (uint32_t)left : w->window;
    const uint32_t answer = w->label == LABEL_ROW ? 0 : length - 1;
    return (struct window){.first = first,
                           .length = length,
                           .answer = answer,
                           .line = w->label == LABEL_GROUP ? rows - 1 : first + answer};
}

static uint32_t row_of(const struct row_place *at, uint64_t base, uint64_t i)
{
    return at ? at[i].row : (uint32_t)(base + i);
}

void window_list_add(struct window_list *l, const struct windows *w, const struct window *x,
                     const struct row_place *at, uint64_t base)
{
    const uint32_t answers = window_answers(w);
    if (l->count == l->room) {
        l->room = l->room ? 2 * l->room : 64;
        l->rows = mem_grow(l->rows, l->room * w->window, sizeof *l->rows);
        l->begins = mem_grow(l->begins, l->room, sizeof *l->begins);
        l->line = mem_grow(l->line, l->room * answers, sizeof *l->line);
    }
    uint32_t *rows = l->rows + l->count * w->window, *line = l->line + l->count * answers;
    for (uint32_t t = 0; t < w->window; t++)
        rows[t] = t < x->length ? row_of(at, base, x->first + t) : SAMPLE_NONE;
    for (uint32_t i = 0; i < answers; i++)
        line[i] = x->answer + i < x->length ? row_of(at, base, x->line + i) : SAMPLE_NONE;
    l->begins[l->count++] = x->first == 0;
}

void window_list_free(struct window_list *l)
{
    mem_free(l->rows);
    mem_free(l->begins);
    mem_free(l->line);
    *l = (struct window_list){0};
}

uint64_t lines_number(uint32_t *line, uint64_t count, uint64_t rows, const bool *wanted,
                      uint32_t *row)
{
    uint32_t *number = mem_zero(rows + 1, sizeof *number), lines = 0;
    for (uint64_t i = 0; i < count; i++)
        if (line[i] != SAMPLE_NONE)
            number[line[i]] = !wanted || wanted[line[i]];
    for (uint64_t i = 0; i < rows; i++) {
        if (number[i])
            row[lines] = (uint32_t)i;
        number[i] = number[i] ? lines++ : SAMPLE_NONE;
    }
    for (uint64_t i = 0; i < count; i++)
        line[i] = line[i] == SAMPLE_NONE ? SAMPLE_NONE : number[line[i]];
    mem_free(number);
    return lines;
}

bool *lines_of(const struct windows *w, const struct samples *s, uint64_t rows)
{
    bool *has = mem_zero(rows + 1, sizeof *has);
    for (uint64_t g = 0; g < s->count; g++) {
        const uint64_t first = sample_first(s, g), records = sample_records(s, g);
        for (uint64_t k = 0; k < windows_count(w, records); k++) {
            const struct window x = window_at(w, records, k);
            for (uint32_t t = x.answer; t < x.length; t++)
                has[first + x.line + (t - x.answer)] = true;
        }
    }
    return has;
}
