/* windows.c - see windows.h. */
#include "table/sequence/windows.h"

#include <assert.h>
#include <string.h>

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

void window_mean_begin(struct window_mean *m, uint32_t members, uint64_t lines, uint32_t outputs)
{
    assert(!m->sum || (members == m->members && outputs == m->outputs));
    if (!m->sum || lines > m->room) {
        window_mean_free(m);
        m->room = lines;
        m->sum = mem_alloc((size_t)members * lines * outputs + 1, sizeof *m->sum);
        m->times = mem_alloc(lines + 1, sizeof *m->times);
    }
    m->members = members;
    m->outputs = outputs;
    m->lines = lines;
    memset(m->sum, 0, (size_t)members * lines * outputs * sizeof *m->sum);
    memset(m->times, 0, lines * sizeof *m->times);
}

void window_mean_add(struct window_mean *m, const uint32_t *line, const real *logits,
                     uint64_t answers, uint64_t from, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        const uint32_t at = line ? line[i] : 0;
        if (at == SAMPLE_NONE)
            continue;
        m->times[at]++;
        for (uint32_t k = 0; k < m->members; k++) {
            const real *answer = logits + (k * answers + from + i) * m->outputs;
            double *to = m->sum + (k * m->lines + at) * m->outputs;
            for (uint32_t o = 0; o < m->outputs; o++)
                to[o] += (double)answer[o];
        }
    }
}

void window_mean_put(const struct window_mean *m, real *to, uint64_t to_lines, uint64_t at)
{
    for (uint32_t k = 0; k < m->members; k++)
        for (uint64_t line = 0; line < m->lines; line++)
            for (uint32_t o = 0; o < m->outputs && m->times[line]; o++)
                to[(k * to_lines + at + line) * m->outputs + o] =
                    (real)(m->sum[(k * m->lines + line) * m->outputs + o] / m->times[line]);
}

void window_mean_free(struct window_mean *m)
{
    mem_free(m->sum);
    mem_free(m->times);
    *m = (struct window_mean){0};
}
