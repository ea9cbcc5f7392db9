/* format.c - see format.h. */
#include "cli/format.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

const char *const format_words[] = {"text", "json", "junit", "prom", NULL};

bool format_read(struct args *a, enum format *f, struct err *e)
{
    *f = (enum format)args_word(a, "format", a->json ? FORMAT_JSON : FORMAT_TEXT);
    if (a->json && *f != FORMAT_JSON)
        return err_set(e, ERR_OPTION_CONFLICT, "--json and --format %s contradict each other",
                       format_words[*f]);
    a->json = *f == FORMAT_JSON;
    return true;
}

/* User text in full, so that two groups never have one name: control bytes and bytes that are not
 * UTF-8 as \x1b. Caller frees. */
static char *shown(const char *string)
{
    const size_t length = strlen(string), room = 4 * length + 4;
    char *out = mem_alloc(room, 1);
    text_escape(out, room, string, length);
    return out;
}

/* --- JUnit --- */

/* XML allows no bytes below a blank but tab and line end. */
static void put_xml(const char *text, struct text *out)
{
    for (const char *c = text; *c; c++)
        switch (*c) {
        case '&': text_put(out, "&amp;"); break;
        case '<': text_put(out, "&lt;"); break;
        case '>': text_put(out, "&gt;"); break;
        case '"': text_put(out, "&quot;"); break;
        case '\n': text_put(out, "&#10;"); break;
        default: text_char(out, (unsigned char)*c < ' ' ? '?' : *c);
        }
}

static void put_case(const struct args *a, const char *name, struct text *out)
{
    text_printf(out, "    <testcase classname=\"dnn.%s\" name=\"", a->command->name);
    put_xml(name, out);
    text_put(out, "\"");
}

static void put_gate(const struct args *a, const struct gate *g, struct text *out)
{
    put_case(a, g->text, out);
    if (g->pass) {
        text_put(out, "/>\n");
        return;
    }
    text_put(out, ">\n      <failure type=\"gate\" message=\"measured ");
    if (isnan(g->value))
        gate_put(g, out);
    else
        text_printf(out, "%.9g", g->value);
    if (g->where) {
        text_put(out, ", of ");
        put_xml(g->where, out);
    }
    text_put(out, "\"/>\n    </testcase>\n");
}

/* The state of a group: gates on the worst group that it does not meet, and whether one of them
 * cannot be judged, as its metric has no value. */
struct standing {
    size_t failed;
    bool skipped;
};

static double measured(const struct gate *t, const struct by_group *g)
{
    return metrics_get(&g->metrics, t->metric->name);
}

/* The group does not meet a gate on the worst one. */
static bool fails(const struct gate *t, const struct by_group *g)
{
    return t->of == GATE_OF_WORST && !isnan(measured(t, g)) && !gate_holds(t, measured(t, g));
}

static struct standing stand(const struct format_suite *s, const struct by_group *g)
{
    struct standing at = {0};
    for (size_t i = 0; i < s->gate_count; i++) {
        at.failed += fails(&s->gates[i], g);
        at.skipped |= s->gates[i].of == GATE_OF_WORST && isnan(measured(&s->gates[i], g));
    }
    at.skipped &= at.failed == 0;
    return at;
}

static void put_property(const char *name, const char *end, double value, struct text *out)
{
    if (!isnan(value))
        text_printf(out, "        <property name=\"%s%s\" value=\"%.9g\"/>\n", name, end, value);
}

static void put_group(const struct args *a, const struct format_suite *s, const struct by *b,
                      const struct by_group *g, struct text *out)
{
    struct text name = {0};
    char *group = shown(g->name);
    text_printf(&name, "%s \"%s\"", text_quote_z(b->column), group);
    put_case(a, name.data, out);
    text_free(&name);
    mem_free(group);
    text_put(out, ">\n      <properties>\n");
    put_property("rows", "", (double)g->rows, out);
    for (uint32_t i = 0; i < g->metrics.count; i++) {
        const struct interval *range = &g->metrics.m[i].interval;
        put_property(g->metrics.m[i].type->name, "", g->metrics.m[i].value, out);
        put_property(g->metrics.m[i].type->name, ".low", range->low, out);
        put_property(g->metrics.m[i].type->name, ".high", range->high, out);
    }
    text_put(out, "      </properties>\n");
    const struct standing at = stand(s, g);
    if (at.skipped)
        text_put(out, "      <skipped message=\"the metric of a gate has no value here\"/>\n");
    for (size_t i = 0; at.failed && i < s->gate_count; i++) {
        if (!fails(&s->gates[i], g))
            continue;
        text_put(out, "      <failure type=\"gate\" message=\"");
        put_xml(s->gates[i].text, out);
        text_printf(out, ": measured %.9g\"/>\n", measured(&s->gates[i], g));
    }
    text_put(out, "    </testcase>\n");
}

static void put_error(const struct args *a, const struct err *error, struct text *out)
{
    put_case(a, a->command->name, out);
    text_printf(out, ">\n      <error type=\"E%d\" message=\"", (int)error->id);
    if (error->file[0]) {
        put_xml(text_quote_z(error->file), out);
        if (error->line)
            text_printf(out, ":%lld", (long long)error->line);
        text_put(out, ": ");
    }
    put_xml(error->what, out);
    text_put(out, "\"/>\n    </testcase>\n");
}

void format_junit(const struct args *a, const struct format_suite *s, struct text *out)
{
    size_t cases = s->gate_count + (s->error != NULL), failed = 0, skipped = 0;
    for (size_t i = 0; i < s->gate_count; i++)
        failed += !s->gates[i].pass;
    for (size_t c = 0; c < s->by_count; c++)
        for (uint32_t g = 0; g < s->by[c].count; g++) {
            const struct standing at = stand(s, &s->by[c].groups[g]);
            failed += at.failed > 0;
            skipped += at.skipped;
            cases++;
        }
    text_printf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                "  <testsuite name=\"dnn %s ", a->command->name);
    put_xml(text_quote_z(a->positionals[0]), out);
    text_printf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%d\" skipped=\"%zu\">\n", cases,
                failed, s->error != NULL, skipped);
    for (size_t i = 0; i < s->gate_count; i++)
        put_gate(a, &s->gates[i], out);
    for (size_t c = 0; c < s->by_count; c++)
        for (uint32_t g = 0; g < s->by[c].count; g++)
            put_group(a, s, &s->by[c], &s->by[c].groups[g], out);
    if (s->error)
        put_error(a, s->error, out);
    text_put(out, "  </testsuite>\n</testsuites>\n");
}

/* --- Prometheus --- */

/* The value of a label: user text, with \ and " escaped. */
static void put_label(const char *name, const char *value, struct text *out)
{
    char *text = shown(value);
    text_printf(out, ",%s=\"", name);
    for (const char *c = text; *c; c++) {
        if (*c == '\\' || *c == '"')
            text_char(out, '\\');
        text_char(out, *c);
    }
    text_char(out, '"');
    mem_free(text);
}

/* b, g: NULL of all rows of the part. */
static void put_gauges(const char *part, const struct metrics *m, const struct by *b,
                       const struct by_group *g, struct text *out)
{
    for (uint32_t k = 0; k < m->count; k++) {
        text_printf(out, "dnn_metric{part=\"%s\",metric=\"%s\"", part, m->m[k].type->name);
        if (g) {
            put_label("by", b->column, out);
            put_label("group", g->name, out);
        }
        text_printf(out, isnan(m->m[k].value) ? "} NaN\n" : "} %.9g\n", m->m[k].value);
    }
}

void format_prom(const struct format_part *parts, size_t count, struct text *out)
{
    text_put(out, "# HELP dnn_metric A metric of the model on the rows of a part.\n"
                  "# TYPE dnn_metric gauge\n");
    for (size_t i = 0; i < count; i++) {
        const struct format_part *p = &parts[i];
        put_gauges(p->name, p->metrics, NULL, NULL, out);
        for (size_t c = 0; c < p->by_count; c++)
            for (uint32_t g = 0; g < p->by[c].count; g++)
                put_gauges(p->name, &p->by[c].groups[g].metrics, &p->by[c], &p->by[c].groups[g],
                           out);
    }
}
