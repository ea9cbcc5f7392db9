/* cmd_completion.c - shell completion, written from the command table. */
#include <string.h>

#include "cli/cli.h"
#include "run/config_help.h"

static void options_of(const struct command *c, const char *separator, struct text *out)
{
    const struct arg_option *tables[5];
    size_t count = args_tables(c, tables);
    bool first = true;
    for (size_t t = 0; t < count; t++)
        for (const struct arg_option *o = tables[t]; o->name; o++) {
            text_printf(out, "%s--%s", first ? "" : separator, o->name);
            first = false;
        }
}

static void put_words(const char *const *words, struct text *out)
{
    for (size_t i = 0; words[i]; i++)
        text_printf(out, "%s%s", i ? " " : "", words[i]);
}

/* Options with a closed list of words. */
static const char *const *words_of(const struct arg_option *o)
{
    static const char *const backends[] = {"auto", "dnn_gpu", "dnn_cpu", "cpu", "cuda", NULL};
    return strcmp(o->name, "backend") == 0 ? backends : o->words;
}

/* What may stand in the place of an argument: words, or NULL for files ("" for nothing). */
static const char *arguments_of(const struct command *c)
{
    return strcmp(c->name, "completion") == 0 ? "bash zsh"
           : strcmp(c->name, "help") == 0     ? "$topics"
           : c->most == 0                     ? ""
                                              : NULL;
}

static void key_word(const char *key, const struct option *row, void *context)
{
    (void)row;
    text_printf(context, " %s", key);
}

/* Everything that `dnn help` has a page of, but the ids of errors. */
static void put_topics(struct text *out)
{
    for (size_t i = 0; commands[i]; i++)
        text_printf(out, "%s ", commands[i]->name);
    text_put(out, "keys layers environment errors exit gpu");
    config_keys(key_word, out);
}

/* The words behind an option that takes a value: its own, files, or none. */
static void bash_values(const struct command *c, struct text *out)
{
    const struct arg_option *tables[5];
    size_t count = args_tables(c, tables);
    for (size_t t = 0; t < count; t++)
        for (const struct arg_option *o = tables[t]; o->name; o++) {
            if (!o->value)
                continue;
            text_printf(out, "    %s:--%s", c->name, o->name);
            if (o->letter)
                text_printf(out, "|%s:-%c", c->name, o->letter);
            if (strcmp(o->name, "set") == 0) {
                text_put(out, ") compopt -o nospace 2>/dev/null; COMPREPLY=($(compgen -S = -W "
                              "\"$keys\" -- \"$word\")); return ;;\n");
            } else if (words_of(o)) {
                text_put(out, ") COMPREPLY=($(compgen -W \"");
                put_words(words_of(o), out);
                text_put(out, "\" -- \"$word\")); return ;;\n");
            } else
                text_put(out,
                         o->flags & ARG_FILE
                             ? ") compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "
                               "\"$word\")); return ;;\n"
                             : ") return ;;\n");
        }
}

static void bash(struct text *out)
{
    text_put(out, "# bash completion of dnn: eval \"$(dnn completion bash)\"\n"
                  "_dnn() {\n"
                  "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} "
                  "command=${COMP_WORDS[1]} options= topics=\"");
    put_topics(out);
    text_put(out, "\" keys=\"");
    config_keys(key_word, out);
    text_put(out, "\"\n  COMPREPLY=()\n"
                  "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W \"");
    for (size_t i = 0; commands[i]; i++)
        text_printf(out, "%s ", commands[i]->name);
    text_put(out, "--version --help\" -- \"$word\")); return\n  fi\n"
                  "  case $command:$before in\n");
    for (size_t i = 0; commands[i]; i++)
        bash_values(commands[i], out);
    text_put(out, "  esac\n  local arguments=files\n  case $command in\n");
    for (size_t i = 0; commands[i]; i++) {
        text_printf(out, "    %s) options=\"", commands[i]->name);
        options_of(commands[i], " ", out);
        text_put(out, "\"");
        if (arguments_of(commands[i]))
            text_printf(out, "; arguments=\"%s\"", arguments_of(commands[i]));
        text_put(out, " ;;\n");
    }
    text_put(out, "    *) arguments= ;;\n  esac\n"
                  "  if [[ $word == -* ]]; then\n"
                  "    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
                  "  elif [ \"$arguments\" = files ]; then\n"
                  "    compopt -o filenames 2>/dev/null\n"
                  "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
                  "  else\n    COMPREPLY=($(compgen -W \"$arguments\" -- \"$word\"))\n  fi\n}\n"
                  "complete -F _dnn dnn\n");
}

/* Text inside single quotes and a zsh description. */
static void zsh_text(const char *words, struct text *out)
{
    for (; *words; words++) {
        if (*words == '\'')
            text_put(out, "'\\'");
        else if (strchr("[]:\\", *words))
            text_char(out, '\\');
        text_char(out, *words);
    }
}

static void zsh_option(const struct arg_option *o, struct text *out)
{
    text_printf(out, " '%s--%s[", o->flags & ARG_MANY ? "*" : "", o->name);
    zsh_text(o->help, out);
    text_char(out, ']');
    if (o->value)
        text_put(out, ":value:");
    if (o->value && words_of(o)) {
        text_char(out, '(');
        put_words(words_of(o), out);
        text_char(out, ')');
    } else if (o->value && o->flags & ARG_FILE)
        text_put(out, "_files");
    text_char(out, '\'');
}

static void zsh(struct text *out)
{
    text_put(out,
             "#compdef dnn\n# zsh completion of dnn: eval \"$(dnn completion zsh)\"\n_dnn() {\n"
             "  local -a names\n  names=(\n");
    for (size_t i = 0; commands[i]; i++) {
        text_printf(out, "    '%s:", commands[i]->name);
        zsh_text(commands[i]->summary, out);
        text_put(out, "'\n");
    }
    text_put(out, "  )\n  if (( CURRENT == 2 )); then _describe command names; return; fi\n  case "
                  "$words[2] in\n");
    for (size_t i = 0; commands[i]; i++) {
        const char *arguments = arguments_of(commands[i]);
        text_printf(out, "    %s) _arguments", commands[i]->name);
        const struct arg_option *tables[5];
        size_t count = args_tables(commands[i], tables);
        for (size_t t = 0; t < count; t++)
            for (const struct arg_option *o = tables[t]; o->name; o++)
                zsh_option(o, out);
        if (!arguments)
            text_put(out, " '*:file:_files'");
        else if (*arguments == '$') {
            text_put(out, " '*:topic:(");
            put_topics(out);
            text_put(out, ")'");
        } else if (*arguments)
            text_printf(out, " '*:word:(%s)'", arguments);
        text_put(out, " ;;\n");
    }
    text_put(out, "  esac\n}\ncompdef _dnn dnn\n");
}

static int completion_run(struct args *a)
{
    struct text out = {0};
    const char *shell = a->positionals[0];
    if (strcmp(shell, "bash") == 0)
        bash(&out);
    else if (strcmp(shell, "zsh") == 0)
        zsh(&out);
    else {
        struct err e = {0};
        err_set(&e, ERR_USAGE, "no completion for \"%s\"", text_quote_z(shell));
        err_expected(&e, "bash or zsh");
        return cli_fail(a, &e, NULL);
    }
    int code = cli_print(a, &out);
    text_free(&out);
    return code;
}

const struct command command_completion = {
    .name = "completion",
    .usage = "completion bash|zsh",
    .summary = "Print shell completion.",
    .examples = "  eval \"$(dnn completion bash)\"\n",
    .least = 1,
    .most = 1,
    .run = completion_run,
};
