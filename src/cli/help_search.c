/* help_search.c - `dnn help -k WORD...`: the pages that have these words, the best first. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "config/config_help.h"

enum { SHOWN = 24, IN_NAME = 3, IN_TITLE = 2, IN_TEXT = 1 };

struct page {
    char *name, *title;
    int place; /* IN_..: the place of the word that is deepest in the page */
};
struct search {
    const char *const *words;
    size_t word_count;
    struct page *pages;
    size_t count;
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* True: a word of the text begins with the word; one more "s" of either does not count. */
static bool has(const char *text, const char *word)
{
    size_t length = strlen(word);
    if (length > 3 && (word[length - 1] == 's' || word[length - 1] == 'S'))
        length--;
    char *stem = mem_string_n(word, length);
    bool found = false;
    for (const char *at = text; !found && (at = strcasestr(at, stem)) != NULL; at++)
        found = at == text || !is_letter(at[-1]);
    mem_free(stem);
    return found;
}

/* The place of the word that is deepest in the page, if every word is in it; else 0. */
static int place_of(const struct search *s, const char *names, const char *title, const char *text)
{
    int least = IN_NAME;
    for (size_t i = 0; i < s->word_count; i++) {
        const char *word = s->words[i];
        int place = has(names, word) ? IN_NAME
                    : has(title, word) ? IN_TITLE
                    : has(text, word) ? IN_TEXT
                                      : 0;
        least = place < least ? place : least;
    }
    return least;
}

/* names: the page's name and its other ones. title: up to a line end. */
static void add(struct search *s, const char *name, const char *names, const char *title,
                const char *text)
{
    char *first = mem_string_n(title, strcspn(title, "\n"));
    int place = place_of(s, names, first, text);
    if (!place) {
        mem_free(first);
        return;
    }
    s->pages = mem_more(s->pages, s->count, sizeof *s->pages);
    s->pages[s->count] = (struct page){mem_string(name), first, place};
    s->count++;
}

/* The page of a key or a group of keys. */
static void add_key(const char *key, const struct option *row, void *context)
{
    const char *help = row->help ? row->help : "";
    const char *stop = strstr(help, ". ");
    char *title = mem_string_n(help, stop ? (size_t)(stop - help) + 1 : strlen(help));
    add(context, key, key, title, help);
    mem_free(title);
}

static int by_place(const void *a, const void *b, const void *context)
{
    const struct page *x = a, *y = b;
    (void)context;
    return y->place - x->place;
}

/* Pages whose lines the search finds one by one. */
static bool lists_others(const char *topic)
{
    return strcmp(topic, "keys") == 0 || strcmp(topic, "errors") == 0;
}

static void search(struct search *s)
{
    struct text page = {0};
    for (size_t i = 0; i < topic_count(); i++) {
        text_clear(&page);
        if (!lists_others(topic_name(i).text))
            topic_page(i, &page);
        char *names = topic_names(i);
        add(s, topic_name(i).text, names, topic_title(i), page.length ? page.data : "");
        mem_free(names);
    }
    for (size_t i = 0; commands[i]; i++) {
        text_clear(&page);
        if (commands[i] != &command_help) /* its examples are words of other pages */
            help_command(commands[i], &page);
        add(s, commands[i]->name, commands[i]->name, commands[i]->summary,
            page.length ? page.data : "");
    }
    text_free(&page);
    config_keys(add_key, s);
    const struct err_info *info;
    for (size_t i = 0; (info = err_info_at(i)); i++) {
        char name[16];
        snprintf(name, sizeof name, "E%d", (int)info->id);
        add(s, name, name, info->summary, info->page);
    }
    if (s->count)
        sort_stable(s->pages, s->count, sizeof *s->pages, by_place, NULL);
}

bool help_search(const char *const *words, size_t count, struct text *out)
{
    struct search s = {.words = words, .word_count = count};
    search(&s);
    for (size_t i = 0; i < s.count && i < SHOWN; i++) {
        const int pad = 20 - (int)strlen(s.pages[i].name);
        text_printf(out, "  dnn help %s%s%*s", s.pages[i].name, pad < 0 ? "\n" : " ",
                    pad < 0 ? 32 : pad, "");
        help_wrapped(out, s.pages[i].title, 32, 32);
    }
    if (s.count > SHOWN)
        text_printf(out, "and %zu more, with these words in their text\n", s.count - SHOWN);
    for (size_t i = 0; i < s.count; i++) {
        mem_free(s.pages[i].name);
        mem_free(s.pages[i].title);
    }
    mem_free(s.pages);
    return s.count > 0;
}
