/* format.c - see format.h. */
#include "cli/format.h"

#include <math.h>
#include <string.h>

const char *const format_words[] = {"text", "json", "junit", "prom", NULL};

bool format_read(struct args *a, enum format *f, struct err *e)
{
    const char *word = args_value(a, "format");
    *f = a->json ? FORMAT_JSON : FORMAT_TEXT;
    if (!word)
        return true;
    while (strcmp(word, format_words[*f]) != 0)
        *f = (enum format)((*f + 1) % (FORMAT_PROM + 1));
    if (a->json && *f != FORMAT_JSON)
        return err_set(e, ERR_OPTION_CONFLICT, "--json and --format %s contradict each other",
                       word);
    a->json = *f == FORMAT_JSON;
    return true;
}

/* --- JUnit --- */

/* Of bytes below a blank XML has none but tab and line end. */
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

void format_junit(const struct args *a, const struct gate *gates, size_t count,
                  const struct err *error, struct text *out)
{
    size_t failed = 0;
    for (size_t i = 0; i < count; i++)
        failed += !gates[i].pass;
    text_printf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                "  <testsuite name=\"dnn %s ", a->command->name);
    put_xml(text_quote_z(a->positionals[0]), out);
    text_printf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%d\">\n",
                count + (error != NULL), failed, error != NULL);
    for (size_t i = 0; i < count; i++)
        put_gate(a, &gates[i], out);
    if (error) {
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
    text_put(out, "  </testsuite>\n</testsuites>\n");
}

/* --- Prometheus --- */

void format_prom(const struct format_part *parts, size_t count, struct text *out)
{
    text_put(out, "# HELP dnn_metric A metric of the model on the rows of a part.\n"
                  "# TYPE dnn_metric gauge\n");
    for (size_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < parts[i].metrics->count; k++) {
            double value = parts[i].metrics->m[k].value;
            text_printf(out, "dnn_metric{part=\"%s\",metric=\"%s\"} ", parts[i].name,
                        parts[i].metrics->m[k].type->name);
            text_printf(out, isnan(value) ? "NaN\n" : "%.9g\n", value);
        }
}
