/* window_mean.c - see window_mean.h. */
#include "table/sequence/window_mean.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "table/sequence/samples.h"

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
