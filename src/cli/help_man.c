/* help_man.c - the manual pages, made from the same tables as `dnn help`. */
#include <ctype.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/help.h"

/* Text with the escapes of roff. */
static void roff(struct text *out, const char *words, size_t length)
{
    for (size_t i = 0; i < length; i++)
        switch (words[i]) {
        case '\\': text_put(out, "\\e"); break;
        case '-': text_put(out, "\\-"); break;
        case '\'': text_put(out, "\\(aq"); break;
        case '`': text_put(out, "\\(ga"); break;
        case '^': text_put(out, "\\(ha"); break;
        case '~': text_put(out, "\\(ti"); break;
        default: text_char(out, words[i]);
        }
}

static void put_line(struct text *out, const char *words, size_t length)
{
    if (length && words[0] == '.')
        text_put(out, "\\&");
    roff(out, words, length);
    text_char(out, '\n');
}

static void put_words(struct text *out, const char *words)
{
    put_line(out, words, strlen(words));
}

/* Lines as they stand. */
static void put_block(struct text *out, const char *lines)
{
    text_put(out, ".nf\n");
    while (*lines) {
        size_t length = strcspn(lines, "\n");
        put_line(out, lines, length);
        lines += length + (lines[length] == '\n');
    }
    text_put(out, ".fi\n");
}

static void put_option(struct text *out, const struct arg_option *o)
{
    text_put(out, ".TP\n\\fB");
    if (o->letter)
        text_printf(out, "\\-%c\\fR, \\fB", o->letter);
    text_put(out, "\\-\\-");
    roff(out, o->name, strlen(o->name));
    text_put(out, "\\fR");
    if (o->value) {
        text_put(out, o->flags & ARG_MAYBE ? "[=\\fI" : " \\fI");
        roff(out, o->value, strlen(o->value));
        text_put(out, o->flags & ARG_MAYBE ? "\\fR]" : "\\fR");
    }
    text_char(out, '\n');
    put_words(out, o->help);
}

void help_man_command(const struct command *c, struct text *out)
{
    const struct arg_option *o;
    text_put(out, ".TH DNN\\-");
    for (const char *letter = c->name; *letter; letter++)
        text_char(out, (char)toupper((unsigned char)*letter));
    text_printf(out, " 1 \"\" \"dnn " DNN_VERSION "\" \"User Commands\"\n.SH NAME\n"
                     "dnn\\-%s \\- ", c->name);
    put_words(out, c->summary);
    text_put(out, ".SH SYNOPSIS\n.B dnn\n");
    put_words(out, c->usage);
    if (c->notes) {
        text_put(out, ".SH DESCRIPTION\n");
        put_words(out, c->notes);
    }
    text_put(out, ".SH OPTIONS\n");
    for (size_t i = 0; (o = args_option(c, i)) != NULL; i++)
        put_option(out, o);
    text_put(out, ".SH EXAMPLES\n");
    put_block(out, c->examples);
    text_put(out, ".SH SEE ALSO\n.BR dnn (1)\n");
}

static void put_command(struct text *out, const struct command *c)
{
    text_put(out, ".SS dnn ");
    put_words(out, c->name);
    put_words(out, c->summary);
    text_put(out, ".PP\n.B dnn\n");
    put_words(out, c->usage);
    text_put(out, ".PP\n");
    put_block(out, c->examples);
    for (const struct arg_option *o = c->options; o && o->name; o++)
        put_option(out, o);
    if (c->notes) {
        text_put(out, ".PP\n");
        put_words(out, c->notes);
    }
}

/* The rows of the page "keys": a key, then words. */
static void put_keys(struct text *out, const char *rows)
{
    while (*rows) {
        rows += strspn(rows, " ");
        size_t key = strcspn(rows, " \n"), length = strcspn(rows, "\n");
        size_t words = key + strspn(rows + key, " ");
        text_put(out, ".TP\n.B ");
        put_line(out, rows, key);
        put_line(out, rows + words, length - words);
        rows += length + (rows[length] == '\n');
    }
}

static void put_topic(struct text *out, size_t i)
{
    struct text page = {0};
    topic_page(i, &page);
    text_put(out, ".SS ");
    put_words(out, topic_name(i).text);
    put_line(out, topic_title(i), strcspn(topic_title(i), "\n"));
    text_put(out, ".PP\n");
    if (strcmp(topic_name(i).text, "keys") == 0)
        put_keys(out, page.data);
    else
        put_block(out, page.data);
    text_free(&page);
}

void help_man(struct text *out)
{
    static const struct { const char *head; const struct arg_option *options; } shared[] = {
        {"Every command", common_options},
        {"Commands that compute", compute_options},
        {"Commands that read or write a config", config_options},
        {"Commands that answer rows", reading_options},
        {"Commands with a result", json_options}};
    text_put(out,
             ".TH DNN 1 \"\" \"dnn " DNN_VERSION "\" \"User Commands\"\n.SH NAME\n"
             "dnn \\- train a deep neural network from a CSV file, and predict\n.SH SYNOPSIS\n"
             ".B dnn\n.I COMMAND\n[\\fIOPTION\\fR]... [\\fIFILE\\fR]...\n.SH DESCRIPTION\n");
    struct text overview = {0};
    help_overview(&overview);
    put_block(out, overview.data);
    text_free(&overview);
    text_put(out, ".SH COMMANDS\n");
    for (size_t i = 0; commands[i]; i++)
        put_command(out, commands[i]);
    text_put(out, ".SH OPTIONS\n");
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        text_printf(out, ".SS %s\n", shared[i].head);
        for (const struct arg_option *o = shared[i].options; o->name; o++)
            put_option(out, o);
    }
    text_put(out, ".SH TOPICS\n");
    for (size_t i = 0; i < topic_count(); i++)
        put_topic(out, i);
}
