/* odd_steps.c - see odd_steps.h. */
#include "table/sequence/odd_steps.h"

#include "base/log.h"

enum odd_step odd_step(const struct windows *w, double step)
{
    if (!(step > 0))
        return STEP_EQUAL;
    return w->step > 0 && step > 1.5 * w->step ? STEP_GAP : ODD_STEPS;
}

void odd_step_place(struct text *to, const char *path, int64_t line, const char *group,
                    size_t length)
{
    text_clear(to);
    text_printf(to, "%s:%lld", text_quote_z(path), (long long)line);
    text_printf(to, ", group \"%s\"", text_quote(group, length));
}

void odd_steps_note(const struct odd_steps *o, const struct schema *s)
{
    if (s->windows.order == UINT32_MAX)
        return;
    const char *name = s->columns[s->windows.order].name;
    for (int kind = 0; kind < ODD_STEPS; kind++) {
        const char *place = o->first[kind].data ? o->first[kind].data : "unknown";
        unsigned long long count = o->count[kind];
        if (count && kind == STEP_EQUAL)
            log_note("\"%s\" is as in the row before in %llu row%s of the same group; the first "
                     "one: %s", text_quote_z(name), count, count == 1 ? "" : "s", place);
        else if (count)
            log_note("\"%s\" has %llu gap%s: steps of more than %.9g inside a group; the first one "
                     "ends at %s", text_quote_z(name), count, count == 1 ? "" : "s",
                     s->windows.step, place);
    }
}

void odd_steps_free(struct odd_steps *o)
{
    for (int kind = 0; kind < ODD_STEPS; kind++)
        text_free(&o->first[kind]);
}
