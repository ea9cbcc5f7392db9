/* cmd_completion.c - shell completion, written from the command table. */
#include <string.h>

#include "cli/cli.h"
#include "cli/help.h"
#include "config/config_help.h"
#include "measure/metric.h"
#include "model/preset/preset.h"

/* The name of a metric is the value, or its beginning. */
static bool takes_metric(const struct arg_option *o)
{
    return strcmp(o->name, "on") == 0 || strcmp(o->name, "require") == 0;
}

static const char *const *words_of(const struct arg_option *o)
{
    return strcmp(o->name, "backend") == 0 ? backend_option_words : o->words;
}

static bool has_words(const struct arg_option *o)
{
    return takes_metric(o) || words_of(o);
}

/* Appends the closed list of words of an option. */
static void put_words(const struct arg_option *o, struct text *out)
{
    const char *const *words = words_of(o), *word;
    for (size_t i = 0; (word = takes_metric(o) ? metric_types[i].name : words[i]); i++)
        text_printf(out, "%s%s", i ? " " : "", word);
}

/* The completions of an argument: words, NULL for files, "" for none. */
static const char *arguments_of(const struct command *c)
{
    return strcmp(c->name, "completion") == 0 ? "bash zsh"
           : strcmp(c->name, "help") == 0     ? "$topics"
           : c->arguments.most == 0           ? ""
                                              : NULL;
}

static void key_word(const char *key, const struct option *row, void *context)
{
    (void)row;
    text_printf(context, " %s", key);
}

/* The keys of --set, also of the presets. */
static void put_keys(struct text *out)
{
    text_put(out, " keys=\"model.preset");
    config_keys(key_word, out);
    for (size_t p = 0; p < preset_count(); p++)
        for (const struct option *row = presets[p].options; row->key; row++)
            if (p == 0 || !opt_find(presets[0].options, row->key))
                text_printf(out, " model.%s", row->key);
    text_put(out, "\"\n");
}

/* The words of `dnn help`, without option names. */
static void put_topics(struct text *out)
{
    for (size_t i = 0; commands[i]; i++)
        text_printf(out, "%s ", commands[i]->name);
    for (size_t i = 0; i < topic_count(); i++)
        text_printf(out, "%s%s", i ? " " : "", topic_name(i).text);
    config_keys(key_word, out);
    const struct err_info *info;
    for (size_t i = 0; (info = err_info_at(i)); i++)
        text_printf(out, " E%d", (int)info->id);
}

/* The words after an option that takes a value: its own, files, or none. */
static void bash_values(const struct command *c, struct text *out)
{
    const struct arg_option *o;
    for (size_t i = 0; (o = args_option(c, i)) != NULL; i++) {
        if (!o->value || o->flags & ARG_MAYBE)
            continue;
        text_printf(out, "    %s:--%s", c->name, o->name);
        if (o->letter)
            text_printf(out, "|%s:-%c", c->name, o->letter);
        if (strcmp(o->name, "set") == 0) {
            text_put(out, ") compopt -o nospace 2>/dev/null\n"
                          "      COMPREPLY=($(compgen -S = -W \"$keys\" -- \"$word\")); "
                          "return ;;\n");
        } else if (has_words(o)) {
            text_put(out, ") COMPREPLY=($(compgen -W \"");
            put_words(o, out);
            text_printf(out, "\" -- \"$word\"))%s; return ;;\n",
                        strcmp(o->name, "require") == 0 ? "; compopt -o nospace 2>/dev/null" : "");
        } else {
            text_printf(out, ")%s return ;;\n", o->flags & ARG_FILE ? " _dnn_files;" : "");
        }
    }
}

static void bash(struct text *out)
{
    /* a line is a name: blanks belong to it */
    text_put(out, "# bash completion of dnn: eval \"$(dnn completion bash)\"\n"
                  "_dnn_files() {\n"
                  "  local IFS=$'\\n'\n  compopt -o filenames 2>/dev/null\n"
                  "  COMPREPLY=($(compgen -f -- \"$word\"))\n}\n"
                  "_dnn() {\n"
                  "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} "
                  "command=${COMP_WORDS[1]} options= topics=\"");
    put_topics(out);
    text_put(out, "\"");
    put_keys(out);
    /* to the shell an = is a word of its own */
    text_put(out, "  local at=$COMP_CWORD\n"
                  "  [ \"$word\" != = ] || { word=; at=$((at + 1)); before==; }\n"
                  "  [ \"$before\" != = ] || before=${COMP_WORDS[at-2]}\n"
                  "  COMPREPLY=()\n"
                  "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W \"");
    for (size_t i = 0; commands[i]; i++)
        text_printf(out, "%s ", commands[i]->name);
    text_put(out, "--version --help\" -- \"$word\")); return\n  fi\n"
                  "  if [[ $at -gt 3 && ${COMP_WORDS[at-1]} = = && $before != -* ]]; then\n"
                  "    return\n  fi\n"
                  "  case $command:$before in\n");
    for (size_t i = 0; commands[i]; i++)
        bash_values(commands[i], out);
    text_put(out, "  esac\n  local arguments=files\n  case $command in\n");
    for (size_t i = 0; commands[i]; i++) {
        const struct arg_option *o;
        text_printf(out, "    %s) options=\"", commands[i]->name);
        for (size_t k = 0; (o = args_option(commands[i], k)) != NULL; k++)
            text_printf(out, "--%s ", o->name);
        text_put(out, "\"");
        if (arguments_of(commands[i]))
            text_printf(out, "; arguments=\"%s\"", arguments_of(commands[i]));
        text_put(out, " ;;\n");
    }
    text_put(out, "    *) arguments= ;;\n  esac\n"
                  "  if [[ $word == -* ]]; then\n"
                  "    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
                  "  elif [ \"$arguments\" = files ]; then\n"
                  "    _dnn_files\n"
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

/* Both spellings of an option in one, which shuts the other out. */
static void zsh_option(const struct arg_option *o, struct text *out)
{
    bool value = o->value && !(o->flags & ARG_MAYBE);
    const char *equals = value ? "=" : "";
    if (o->letter)
        text_printf(out, " '(-%c --%s)'{-%c%s,--%s%s}'[", o->letter, o->name, o->letter,
                    value ? "+" : "", o->name, equals);
    else
        text_printf(out, " '%s--%s%s[", o->flags & ARG_MANY ? "*" : "", o->name, equals);
    zsh_text(o->help, out);
    text_char(out, ']');
    if (value)
        text_put(out, ":value:");
    if (value && strcmp(o->name, "set") == 0) {
        text_put(out, "_dnn_set");
    } else if (value && has_words(o)) {
        text_char(out, '(');
        put_words(o, out);
        text_char(out, ')');
    } else if (value && o->flags & ARG_FILE) {
        text_put(out, "_files");
    }
    text_char(out, '\'');
}

static void zsh(struct text *out)
{
    text_put(out, "#compdef dnn\n# zsh completion of dnn: behind compinit, "
                  "eval \"$(dnn completion zsh)\"; or a file _dnn in a folder of $fpath\n"
                  "_dnn_set() {\n  local");
    put_keys(out);
    text_put(out, "  compadd -qS = -- ${=keys}\n}\n_dnn() {\n  local -a names\n  names=(\n");
    for (size_t i = 0; commands[i]; i++) {
        text_printf(out, "    '%s:", commands[i]->name);
        zsh_text(commands[i]->summary, out);
        text_put(out, "'\n");
    }
    text_put(out, "  )\n  if (( CURRENT == 2 )); then\n"
                  "    if [[ $PREFIX == -* ]]; then compadd -- --version --help\n"
                  "    else _describe command names; fi\n    return\n  fi\n  case $words[2] in\n");
    for (size_t i = 0; commands[i]; i++) {
        const char *arguments = arguments_of(commands[i]);
        const struct arg_option *o;
        text_printf(out, "    %s) _arguments", commands[i]->name);
        for (size_t k = 0; (o = args_option(commands[i], k)) != NULL; k++)
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
    text_put(out, "  esac\n}\n"
                  "if [[ $funcstack[1] == _dnn ]]; then _dnn \"$@\"; else compdef _dnn dnn; fi\n");
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
    return cli_print(a, &out);
}

const struct command command_completion = {
    .name = "completion",
    .usage = "completion bash|zsh",
    .summary = "Print shell completion.",
    .examples = "  eval \"$(dnn completion bash)\"\n"
                "  dnn completion zsh >_dnn\n",
    .arguments = {1, 1},
    .run = completion_run,
};
