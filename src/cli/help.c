/* help.c - the pages of `dnn help` and --help, made from the tables: commands, options, config
 * keys, error ids. */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
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
    text_put(out, "\n`dnn help COMMAND`, `dnn help KEY` (a config key) and `dnn help E1203` (an "
                  "error id) show a page; "
                  "`dnn --version [--json]` what was found.\n");
}

void help_wrapped(struct text *out, const char *words, size_t indent, size_t column)
{
    while (*words) {
        size_t length = strcspn(words, " \n");
        if (column + length > 96 && column > indent) {
            text_printf(out, "\n%*s", (int)indent, "");
            column = indent;
        }
        text_add(out, words, length);
        column += length;
        words += length;
        if (*words == '\n') {
            text_printf(out, "\n%*s", (int)indent, "");
            column = indent;
            words++;
        } else if (*words == ' ') {
            words++;
            if (column + 1 + strcspn(words, " \n") <= 96) {
                text_char(out, ' ');
                column++;
            } else {
                text_printf(out, "\n%*s", (int)indent, "");
                column = indent;
            }
        }
    }
    text_char(out, '\n');
}

static void option_row(const struct arg_option *o, struct text *out)
{
    struct text name = {0};
    if (o->letter)
        text_printf(&name, "-%c, ", o->letter);
    text_printf(&name, "--%s%s%s", o->name, o->value ? " " : "", o->value ? o->value : "");
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
    const struct arg_option *tables[5];
    size_t count = args_tables(c, tables);
    for (size_t t = 0; t < count; t++)
        for (const struct arg_option *o = tables[t]; o->name; o++)
            option_row(o, out);
    if (c->notes) {
        text_char(out, '\n');
        help_wrapped(out, c->notes, 0, 0);
    }
}

static bool error_page(const char *word, struct text *out, struct err *e)
{
    int64_t number;
    const struct err_info *info = text_to_int(word + 1, &number) && number > 0 && number <= INT_MAX
                                      ? err_info((int)number)
                                      : NULL;
    if (!info)
        return err_set(e, ERR_USAGE, "there is no error id \"%s\"", text_quote_z(word));
    text_printf(out, "E%d: %s (exit code %d)\n\n", (int)info->id, info->summary, (int)info->exit);
    help_wrapped(out, info->page, 0, 0);
    return true;
}

/* "E12": the ids of a family. */
static bool error_family(const char *word, struct text *out, struct err *e)
{
    const struct err_info *info;
    bool any = false;
    int family = (word[1] - '0') * 10 + (word[2] - '0');
    for (size_t i = 0; (info = err_info_at(i)); i++)
        if ((int)info->id / 100 == family) {
            text_printf(out, "  E%d  %3d  %s\n", (int)info->id, (int)info->exit, info->summary);
            any = true;
        }
    return any || err_set(e, ERR_USAGE, "there is no family of errors \"%s\"", word);
}

static bool is_option(const struct arg_option *o, const char *word)
{
    return strcmp(o->name, word) == 0 || (o->letter && word[0] == o->letter && !word[1]);
}

static const struct arg_option *option_in(const struct arg_option *table, const char *word)
{
    for (const struct arg_option *o = table; o && o->name; o++)
        if (is_option(o, word))
            return o;
    return NULL;
}

/* Options that many commands share. */
static const struct { const struct arg_option *options; const char *whose; } shared[] = {
    {config_options, "commands that read or write a config"},
    {compute_options, "commands that compute"},
    {json_options, "commands with a result"},
    {common_options, "every command"}};

/* "resume", "--resume", "-o": what the commands say of that option. */
static bool option_page(const char *word, struct text *out)
{
    const struct arg_option *o;
    bool any = false;
    word += strspn(word, "-");
    for (size_t i = 0; commands[i]; i++)
        if ((o = option_in(commands[i]->options, word)) != NULL) {
            text_printf(out, "%sdnn %s\n", any ? "\n" : "", commands[i]->usage);
            option_row(o, out);
            any = true;
        }
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if ((o = option_in(shared[i].options, word)) != NULL) {
            text_printf(out, "%s%s\n", any ? "\n" : "", shared[i].whose);
            option_row(o, out);
            any = true;
        }
    return any;
}

bool help_is_option(const char *word)
{
    struct text page = {0};
    bool is = word[0] == '-' && option_page(word, &page);
    text_free(&page);
    return is;
}

bool help_topic(const char *word, struct text *out, struct err *e)
{
    const struct command *c = command_find(word);
    if (c) {
        help_command(c, out);
        return true;
    }
    if (help_exit(word, out) || help_signals(word, out) ||
        (word[0] == '-' && option_page(word, out)))
        return true;
    char id[8]; /* e1203, 1203 */
    size_t bare = word[0] == 'e';
    if (strlen(word) < sizeof id - 1 && isdigit((unsigned char)word[bare])) {
        id[0] = 'E';
        memcpy(id + 1, word + bare, strlen(word + bare) + 1);
        word = id;
    }
    if (word[0] == 'E' && strlen(word) == 3 && strspn(word + 1, "0123456789") == 2)
        return error_family(word, out, e);
    if (word[0] == 'E' && isdigit((unsigned char)word[1]))
        return error_page(word, out, e);
    struct text page = {0};
    if (config_key_help(word, &page)) {
        text_add(out, page.data, page.length);
        text_free(&page);
        return true;
    }
    if (option_page(word, out)) {
        text_free(&page);
        return true;
    }
    err_set(e, ERR_USAGE, "there is no command, config key or error id \"%s\"", text_quote_z(word));
    if (page.length)
        err_help(e, "did you mean %s?", page.data);
    else
        err_help(e, "`dnn help` lists the commands, `dnn help keys` the config keys");
    text_free(&page);
    return false;
}
