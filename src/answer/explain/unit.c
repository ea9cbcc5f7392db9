/* unit.c - see unit.h. */
#include "answer/explain/unit.h"

#include <string.h>

#include "base/mem.h"
#include "base/name_list.h"
#include "base/process/stop.h"
#include "table/encoder/cell_copy.h"

/* Columns, or the channels of wide sequences. */
static uint32_t place_count(const struct schema *s)
{
    return (uint32_t)(s->steps ? s->channels.count : s->column_count);
}

static const char *place_name(const struct schema *s, uint32_t place)
{
    return s->steps ? s->channels.items[place] : s->columns[place].name;
}

static bool place_input(const struct schema *s, uint32_t place)
{
    return s->steps || column_is_input(&s->columns[place]);
}

/* Adds the columns of a place to a list. A channel's are its steps: the numbers of channels x
 * steps. */
static uint32_t add_place(const struct schema *s, uint32_t place, uint32_t *columns, uint32_t count)
{
    for (uint32_t c = 0; c < s->column_count; c++)
        if (s->steps ? s->columns[c].number != UINT32_MAX &&
                           s->columns[c].number / s->steps == place
                     : c == place)
            columns[count++] = c;
    return count;
}

static void add_unit(struct units *u, const char *name, const uint32_t *columns, uint32_t count)
{
    u->items[u->count++] = (struct unit){.name = mem_string(name),
                                         .columns = mem_copy(columns, count * sizeof *columns),
                                         .count = count};
}

static bool add_group(struct units *u, const struct schema *s, const char *names, bool *taken,
                      struct err *e)
{
    const char *what = s->steps ? "channel" : "column";
    uint32_t *columns = mem_alloc(s->column_count, sizeof *columns), count = 0;
    struct text all = {0};
    bool good = true;
    for (const char *from = names; good && from;) {
        char *name = name_list_next(&from, "group", e);
        uint32_t i = 0;
        while (name && i < place_count(s) &&
               (strcmp(place_name(s, i), name) != 0 || !place_input(s, i)))
            i++;
        if (!name)
            good = false;
        else if (i == place_count(s))
            good = err_set(e, ERR_OPTION_VALUE, "--group: the model has no input %s \"%s\"", what,
                           text_quote_z(name));
        else if (taken[i])
            good = err_set(e, ERR_OPTION_VALUE, "--group: %s \"%s\" is named twice", what,
                           text_quote_z(name));
        if (good) {
            text_printf(&all, "%s%s", count ? ", " : "", name);
            taken[i] = true;
            count = add_place(s, i, columns, count);
        }
        mem_free(name);
    }
    if (good)
        add_unit(u, all.data, columns, count);
    text_free(&all);
    mem_free(columns);
    return good;
}

static bool list_units(struct units *u, const struct schema *s, const char *const *groups,
                       size_t group_count, struct err *e)
{
    *u = (struct units){.items = mem_zero(place_count(s), sizeof *u->items)};
    if (s->windows.carry) {
        err_set(e, ERR_CONFIG_CONFLICT,
                "the model carries state from window to window (data.sequence.carry_state): its "
                "columns cannot be shuffled among windows");
        return err_help(e, "explain a model that was trained without it");
    }
    bool *taken = mem_zero(place_count(s), sizeof *taken), good = true;
    uint32_t *columns = mem_alloc(s->column_count, sizeof *columns);
    for (size_t i = 0; good && i < group_count; i++)
        good = add_group(u, s, groups[i], taken, e);
    for (uint32_t i = 0; good && i < place_count(s); i++)
        if (place_input(s, i) && !taken[i])
            add_unit(u, place_name(s, i), columns, add_place(s, i, columns, 0));
    mem_free(columns);
    mem_free(taken);
    return good;
}

bool units_open(struct units *u, struct serve *s, const struct rows_request *q,
                const char *const *groups, size_t group_count, struct err *e)
{
    stop_phase("explain", true);
    return serve_open(s, q, JOB_EXPLAIN, e) && list_units(u, s->schema, groups, group_count, e) &&
           serve_take(s, q, e);
}

void units_free(struct units *u)
{
    for (uint32_t i = 0; i < u->count; i++) {
        mem_free(u->items[i].name);
        mem_free(u->items[i].columns);
    }
    mem_free(u->items);
}
