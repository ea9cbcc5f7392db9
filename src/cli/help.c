/* help.c - the pages of `dnn help` and --help, made from the tables: commands, options, topics,
 * config keys, error ids. */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/process/shell.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "config/config_help.h"

void help_overview(struct text *out)
{
    text_put(
        out,
        "dnn trains a deep neural network from a CSV file and a JSON config, and predicts.\n\n"
        "  dnn init leads.csv --target converted -o leads.json   look at the data, write a config\n"
        "  dnn train leads.json                                  CSV in, model out\n"
        "  dnn predict leads.dnn new.csv -o answers.csv          rows in, answers out\n\n"
        "commands:\n");
    for (size_t i = 0; commands[i]; i++)
        text_printf(out, "  %-12s %s\n", commands[i]->name, commands[i]->summary);
    text_put(out, "\ntopics:\n");
    for (size_t i = 0; i < topic_count(); i++)
        text_printf(out, "  %-12s %.*s\n", topic_name(i).text, (int)strcspn(topic_title(i), "\n"),
                    topic_title(i));
    text_put(out, "\n`dnn help WORD` shows a page. WORD is a command, a topic, a config key "
                  "(data.split), an option\n(--resume), a layer, a metric, a variable or an error "
                  "id (E1203).\n`dnn help -k WORD` lists the pages that have a word.\n");
}

void help_wrapped(struct text *out, const char *words, size_t indent, size_t column)
{
    size_t length = strcspn(words, " \n");
    bool breaks = column + length > 96 && column > indent;
    for (;;) {
        if (breaks) {
            text_printf(out, "\n%*s", (int)indent, "");
            column = indent;
        }
        text_add(out, words, length);
        column += length;
        words += length;
        if (!*words)
            break;
        const char end = *words++;
        length = strcspn(words, " \n");
        breaks = end == '\n' || column + 1 + length > 96;
        if (!breaks) {
            text_char(out, ' ');
            column++;
        }
    }
    text_char(out, '\n');
}

static void option_row(const struct arg_option *o, struct text *out)
{
    struct text name = {0};
    if (o->letter)
        text_printf(&name, "-%c, ", o->letter);
    text_printf(&name, "--%s", o->name);
    if (o->value)
        text_printf(&name, o->flags & ARG_MAYBE ? "[=%s]" : " %s", o->value);
    text_printf(out, "  %-26s ", name.data);
    if (name.length > 26)
        text_printf(out, "\n%29s", "");
    help_wrapped(out, o->help, 29, 29);
    text_free(&name);
}

void help_command(const struct command *c, struct text *out)
{
    text_printf(out, "%s\n\nexamples:\n%s\nusage: dnn %s\n\noptions:\n", c->summary, c->examples,
                c->usage);
    const struct arg_option *o;
    for (size_t i = 0; (o = args_option(c, i)) != NULL; i++)
        option_row(o, out);
    if (c->notes) {
        text_char(out, '\n');
        help_wrapped(out, c->notes, 0, 0);
    }
}

/* The options that several commands share. */
static const struct { const struct arg_option *options; const char *whose; } shared[] = {
    {config_options, "commands that read or write a config"},
    {compute_options, "commands that compute"},
    {reading_options, "commands that answer rows"},
    {json_options, "commands with a result"},
    {common_options, "every command"}};

/* The row of the option in a table, after the words of those that have it. */
static void put_option(const struct arg_option *table, const char *word, const char *lead,
                       const char *whose, struct text *out)
{
    for (const struct arg_option *o = table; o && o->name; o++)
        if (strcmp(o->name, word) == 0 || (o->letter && word[0] == o->letter && !word[1])) {
            text_printf(out, "%s%s%s\n", out->length ? "\n" : "", lead, whose);
            option_row(o, out);
            return;
        }
}

/* "resume", "--resume", "-o": the row of every command that has the option. */
static bool option_page(const char *word, struct text *out)
{
    struct text page = {0};
    word += strspn(word, "-");
    for (size_t i = 0; commands[i]; i++)
        put_option(commands[i]->options, word, "dnn ", commands[i]->usage, &page);
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        put_option(shared[i].options, word, "", shared[i].whose, &page);
    const bool any = page.length > 0;
    if (any)
        text_add(out, page.data, page.length);
    text_free(&page);
    return any;
}

bool help_is_option(const char *word)
{
    struct text page = {0};
    bool is = word[0] == '-' && option_page(word, &page);
    text_free(&page);
    return is;
}

/* The nearest names of commands, topics and keys. keys: what config_key_help named, or "". */
static void nearest(const char *word, const char *keys, struct err *e)
{
    struct topic_name names[96];
    const char *known[96];
    size_t count = 0;
    for (size_t i = 0; commands[i] && count < 32; i++)
        known[count++] = commands[i]->name;
    for (size_t i = 0; i < topic_count() && count < 96; i++) {
        names[count] = topic_name(i);
        known[count] = names[count].text;
        count++;
    }
    const char *near = text_nearest(word, known, count);
    char search[300];
    snprintf(search, sizeof search, "`dnn help -k %s` searches the pages", shell_word("%s", word));
    if (near && *keys && strcmp(near, keys) != 0)
        err_help(e, "did you mean %s or %s? %s", near, keys, search);
    else if (near || *keys)
        err_help(e, "did you mean %s? %s", near ? near : keys, search);
    else
        err_help(e, "%s, `dnn help` lists commands and topics", search);
}

/* e1203, 1203, E12: an error id or a family of them. */
static bool is_error(const char *word)
{
    size_t bare = word[0] == 'E' || word[0] == 'e';
    size_t digits = strspn(word + bare, "0123456789");
    return !word[bare + digits] && (digits == 2 || digits == 4 || (bare && digits));
}

static bool error_word(const char *word, struct text *out, struct err *e)
{
    const char *digits = word + !isdigit((unsigned char)word[0]);
    int64_t number;
    const bool fits = text_to_int(digits, &number) && number <= INT_MAX;
    if (strlen(digits) == 2)
        return help_errors((int)number, out) ||
               err_set(e, ERR_USAGE, "there is no family of errors \"E%s\"", digits);
    const struct err_info *info = fits ? err_info((int)number) : NULL;
    if (!info)
        return err_set(e, ERR_USAGE, "there is no error id \"E%s\"", text_quote_z(digits));
    text_printf(out, "E%d: %s (exit code %d)\n\n", (int)info->id, info->summary, (int)info->exit);
    help_wrapped(out, info->page, 0, 0);
    return true;
}

static bool word_page(const char *word, struct text *out, struct err *e)
{
    const struct command *c = command_find(word);
    size_t topic = topic_find(word);
    if (c) {
        help_command(c, out);
        return true;
    }
    if (topic < topic_count()) {
        topic_page(topic, out);
        return true;
    }
    if (help_exit(word, out) || help_signals(word, out) ||
        (word[0] == '-' && option_page(word, out)))
        return true;
    if (is_error(word))
        return error_word(word, out, e);
    struct text page = {0};
    bool found = config_key_help(word, &page);
    if (found)
        text_add(out, page.data, page.length);
    else if (!(found = option_page(word, out))) {
        err_set(e, ERR_USAGE, "there is no page \"%s\"", text_quote_z(word));
        nearest(word, page.length ? page.data : "", e);
    }
    text_free(&page);
    return found;
}

bool help_word(const char *word, struct text *out, struct err *e)
{
    if (word_page(word, out, e))
        return true;
    struct err inner = {0};
    char *lower = mem_string(word);
    for (char *c = lower; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    bool found = strcmp(lower, word) != 0 && word_page(lower, out, &inner);
    mem_free(lower);
    return found;
}
