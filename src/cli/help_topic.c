/* help_topic.c - the topics of `dnn help`. The build makes pages.inc from src/cli/pages/NAME.txt,
 * one string a page: a first line "name, alias: Title.", then the page. A line "@name" of a page
 * stands for a table. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "backend/backend.h"
#include "base/mem.h"
#include "cli/help.h"
#include "config/config_help.h"
#include "measure/metric.h"

static const char *const pages[] = {
#include "cli/pages.inc"
};
enum { PAGES = sizeof pages / sizeof *pages };

size_t topic_count(void)
{
    return PAGES;
}

struct topic_name topic_name(size_t i)
{
    struct topic_name name;
    snprintf(name.text, sizeof name.text, "%.*s", (int)strcspn(pages[i], ",:"), pages[i]);
    return name;
}

char *topic_names(size_t i)
{
    return mem_string_n(pages[i], strcspn(pages[i], ":"));
}

const char *topic_title(size_t i)
{
    return strchr(pages[i], ':') + 2;
}

size_t topic_find(const char *word)
{
    size_t length = strlen(word);
    for (size_t i = 0; i < PAGES; i++)
        for (const char *p = pages[i];; p += 2) {
            size_t n = strcspn(p, ",:");
            if (n == length && strncasecmp(p, word, n) == 0)
                return i;
            p += n;
            if (*p == ':')
                break;
        }
    return PAGES;
}

/* --- tables --- */

static void exit_codes(struct text *out)
{
    help_exit("exit", out);
}

static void signals(struct text *out)
{
    help_signals("signals", out);
}

static void environment(struct text *out)
{
    config_key_help("environment", out);
}

static void layers(struct text *out)
{
    config_key_help("model.layers", out);
}

static void metrics(struct text *out)
{
    for (const struct metric_type *m = metric_types; m->name; m++) {
        text_printf(out, "  %-10s %-7s ", m->name, m->higher ? "higher" : "lower");
        help_wrapped(out, m->help, 21, 21);
    }
    text_char(out, '\n');
    for (int task = TASK_BINARY; task <= TASK_REGRESSION; task++) {
        char names[160];
        metric_names(task, names, sizeof names);
        text_printf(out, "  %-10s ", task_names[task]);
        help_wrapped(out, names, 13, 13);
    }
}

static void error_ids(struct text *out)
{
    const struct err_info *info;
    for (size_t i = 0; (info = err_info_at(i)); i++)
        text_printf(out, "  E%d  %3d  %s\n", (int)info->id, (int)info->exit, info->summary);
}

static void kernels(struct text *out)
{
    text_printf(out, "This build has %s.\n", machine_known("cuda") ? "GPU kernels"
                                             : "no GPU kernels (made without nvcc)");
}

static const struct { const char *name; void (*write)(struct text *out); } tables[] = {
    {"@exit-codes", exit_codes},   {"@signals", signals},      {"@environment", environment},
    {"@keys", config_reference},   {"@layers", layers},        {"@metrics", metrics},
    {"@errors", error_ids},        {"@toolkits", help_toolkits}, {"@kernels", kernels},
    {"@limits", help_limits}};

void topic_page(size_t i, struct text *out)
{
    const char *p = strchr(pages[i], '\n') + 1;
    p += *p == '\n';
    while (*p) {
        size_t length = strcspn(p, "\n"), t = 0;
        while (*p == '@' && t < sizeof tables / sizeof *tables &&
               (strlen(tables[t].name) != length || memcmp(tables[t].name, p, length) != 0))
            t++;
        if (*p == '@' && t < sizeof tables / sizeof *tables) {
            tables[t].write(out);
        } else {
            text_add(out, p, length);
            text_char(out, '\n');
        }
        p += length + (p[length] == '\n');
    }
}
