/* help_topic.c - the topics of `dnn help`. The build makes pages.inc from src/cli/pages/NAME.txt,
 * one string a page: a first line "name, alias: Title.", then the page. A line "@name" of a page
 * stands for a table. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "cli/help.h"

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

void topic_page(size_t i, struct text *out)
{
    const char *p = strchr(pages[i], '\n') + 1;
    p += *p == '\n';
    while (*p) {
        size_t length = strcspn(p, "\n");
        if (!help_table(p, length, out)) {
            text_add(out, p, length);
            text_char(out, '\n');
        }
        p += length + (p[length] == '\n');
    }
}
