/* cmd_completion.c - shell completion, written from the command table. */
#include <string.h>

#include "cli/cli.h"

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

/* Options with a closed list of words, as cases of a shell `case`. */
static void word_cases(struct text *out)
{
    for (const struct arg_option *o = common_options; o->name; o++) {
        if (!o->words)
            continue;
        text_printf(out, "    --%s) COMPREPLY=($(compgen -W \"", o->name);
        for (size_t i = 0; o->words[i]; i++)
            text_printf(out, "%s%s", i ? " " : "", o->words[i]);
        text_put(out, "\" -- \"$word\")); return ;;\n");
    }
}

static void bash(struct text *out)
{
    text_put(out, "# bash completion of dnn: eval \"$(dnn completion bash)\"\n"
                  "_dnn() {\n"
                  "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} "
                  "command=${COMP_WORDS[1]}\n"
                  "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W \"");
    for (size_t i = 0; commands[i]; i++)
        text_printf(out, "%s ", commands[i]->name);
    text_put(out, "--version --help\" -- \"$word\")); return\n  fi\n  case $before in\n");
    word_cases(out);
    text_put(out, "    --backend) COMPREPLY=($(compgen -W \"auto dnn_gpu dnn_cpu cpu cuda\" -- "
                  "\"$word\")); return ;;\n"
                  "  esac\n  local options=\n  case $command in\n");
    for (size_t i = 0; commands[i]; i++) {
        text_printf(out, "    %s) options=\"", commands[i]->name);
        options_of(commands[i], " ", out);
        text_put(out, "\" ;;\n");
    }
    text_put(out,
             "  esac\n  if [ \"$command\" = completion ]; then COMPREPLY=($(compgen -W \"bash "
             "zsh\" -- \"$word\")); return; fi\n"
             "  case $word in\n    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$word\")) ;;\n"
             "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n  esac\n}\n"
             "complete -o filenames -F _dnn dnn\n");
}

/* Text inside single quotes and a zsh description: no quote, colon or bracket of its own. */
static void zsh_text(const char *words, struct text *out)
{
    for (; *words; words++)
        if (strchr("'[]:", *words))
            text_char(out, ' ');
        else
            text_char(out, *words);
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
        text_printf(out, "    %s) _arguments", commands[i]->name);
        const struct arg_option *tables[5];
        size_t count = args_tables(commands[i], tables);
        for (size_t t = 0; t < count; t++)
            for (const struct arg_option *o = tables[t]; o->name; o++) {
                text_printf(out, " '%s--%s[", o->flags & ARG_MANY ? "*" : "", o->name);
                zsh_text(o->help, out);
                text_printf(out, "]%s'", o->value ? ":value:_files" : "");
            }
        text_put(out, " '*:file:_files' ;;\n");
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
