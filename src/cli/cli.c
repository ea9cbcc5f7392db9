/* cli.c - from argv to a command's exit code: the table, start-up, how errors are told. */
#include "cli/cli.h"
#include "cli/help.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/file/outfile.h"
#include "base/process/progress.h"
#include "base/process/stop.h"
#include "base/process/warnings.h"
#include "choose/select.h"
#include "config/variable.h"

/* --- errors --- */

static void put_words(struct json_out *out, const char *key, const char *words)
{
    json_put_string(out, key, words[0] ? words : NULL);
}

static void put_place(struct json_out *out, const char *key, int64_t place)
{
    if (place)
        json_put_int(out, key, place);
    else
        json_put_null(out, key);
}

void cli_error_json(const struct err *e, struct json_out *out)
{
    char id[16];
    struct text message = {0};
    snprintf(id, sizeof id, "E%d", (int)e->id);
    if (e->more)
        text_printf(&message, "%s%s", e->what, e->more);
    json_open(out, NULL, '{');
    json_put_string(out, "schema", "dnn.error/1");
    json_put_string(out, "id", id);
    json_put_int(out, "exit", (int64_t)err_exit(e));
    put_words(out, "file", e->file);
    put_place(out, "line", e->line);
    put_place(out, "column", e->column);
    json_put_string(out, "message", e->more ? message.data : e->what);
    put_words(out, "expected", e->expected);
    put_words(out, "help", e->help);
    json_close(out, '}');
    text_free(&message);
}

static void error_text(const struct err *e)
{
    struct text line = {0};
    text_printf(&line, "dnn: error[E%d]: ", (int)e->id);
    if (e->file[0])
        text_put(&line, text_quote_z(e->file));
    if (e->file[0] && e->line)
        text_printf(&line, ":%lld", (long long)e->line);
    if (e->file[0] && e->line && e->column)
        text_printf(&line, ":%lld", (long long)e->column);
    text_printf(&line, "%s%s", e->file[0] ? ": " : "", e->what);
    if (e->more) { /* longer than a line of the log */
        text_printf(&line, "%s\n", e->more);
        log_object(line.data, line.length);
    } else {
        log_raw("error", line.data);
    }
    const struct { const char *lead, *text; } more[] = {
        {"  | ", e->excerpt}, {"  = expected: ", e->expected}, {"  = help: ", e->help}};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        if (!more[i].text[0])
            continue;
        text_clear(&line);
        text_printf(&line, "%s%s", more[i].lead, more[i].text);
        log_raw("error", line.data);
    }
    text_free(&line);
}

bool cli_rows_out(const struct args *a)
{
    if (!a->command || !(a->command->flags & COMMAND_ROWS))
        return false;
    return !a->output || file_is_output(a->output);
}

int cli_fail(const struct args *a, const struct err *e, const char *disk_note)
{
    struct err bug = {0};
    if (e->id == ERR_NONE) { /* a failure is never the exit of a success */
        err_set(&bug, ERR_BUG, "the command failed and gave no reason");
        e = &bug;
    }
    int code = (int)err_exit(e);
    if (code == EXIT_SIGPIPE)
        return code; /* the reader closed the pipe, and knows */
    struct json_out o = {0};
    bool json = a && a->json;
    if (json || log_json()) {
        cli_error_json(e, &o);
        cli_json(json ? a : NULL, &o, !json || cli_rows_out(a));
    } else {
        error_text(e);
    }
    mem_free(e->more);
    if (disk_note && !json)
        log_note("%s", disk_note);
    return code;
}

int cli_fail_output(const struct args *a, const struct err *e, const char *output)
{
    char note[1200];
    struct stat st;
    bool other = file_in_place(e); /* then the error names the file and line */
    if (other && output && file_same(output, e->file))
        return cli_fail(a, e, NULL);
    bool there = output && strcmp(output, "-") != 0 && stat(output, &st) == 0;
    if (there && !S_ISREG(st.st_mode))
        return cli_fail(a, e, NULL); /* a pipe or a device keeps what it was given */
    if (there)
        snprintf(note, sizeof note, "%s%s is unchanged", other ? "" : "nothing was written; ",
                 text_quote_z(output));
    else if (other)
        snprintf(note, sizeof note, "%s was not written", text_quote_z(output ? output : "-"));
    else
        snprintf(note, sizeof note, "nothing was written");
    return cli_fail(a, e, note);
}

/* --- output --- */

int cli_print(const struct args *a, struct text *t)
{
    struct err e = {0};
    const bool good = outfile_whole("-", t, &e);
    text_free(t);
    return good ? EXIT_DONE : cli_fail(a, &e, NULL);
}

int cli_json(const struct args *a, struct json_out *o, bool to_stderr)
{
    int code = EXIT_DONE;
    text_char(&o->text, '\n');
    if (to_stderr) {
        log_object(o->text.data, o->text.length);
    } else {
        struct args plain = a ? *a : (struct args){0};
        plain.json = false; /* a failure to print is told in words */
        code = cli_print(&plain, &o->text);
    }
    text_free(&o->text);
    return code;
}

struct overrides cli_overrides(const struct args *a)
{
    struct overrides o = {.threads = args_int(a, "threads", -1),
                          .batch_size = args_int(a, "batch-size", -1),
                          .time_limit_s = args_seconds(a, "time-limit", -1),
                          .backend = args_value(a, "backend"),
                          .device = args_value(a, "device")};
    o.sets = args_list(a, "set", &o.set_count);
    return o;
}

bool cli_reading(const struct args *a, struct reading *r, struct err *e)
{
    const char *delimiter = args_value(a, "delimiter"), *decimal = args_value(a, "decimal");
    *r = (struct reading){.decimal = decimal ? *decimal : '\0',
                          .encoding = 1 + args_word(a, "encoding", -1),
                          .quote = 1 + args_word(a, "quote", -1)};
    return !delimiter || reading_delimiter(delimiter, &r->delimiter, e);
}

struct config *cli_config(const struct args *a, const char *output, struct err *e)
{
    struct overrides o = cli_overrides(a);
    o.output_model = output;
    if (a->json)
        warnings_keep();
    struct config *config = config_load(a->positionals[0], &o, e);
    if (!config)
        warnings_drop();
    return config;
}

int cli_progress(const struct args *a)
{
    const int style = args_word(a, "progress", PROGRESS_AUTO);
    return style == PROGRESS_AUTO && log_json() ? PROGRESS_PLAIN : style;
}

void cli_renamed(const char *path, const char *ending, struct text *out)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    const bool ends = dot && dot > (slash ? slash + 1 : path);
    text_add(out, path, ends ? (size_t)(dot - path) : strlen(path));
    text_put(out, ending);
}

/* --- start-up --- */

/* A closed descriptor 0, 1 or 2 would be given to the next file opened, and a model would receive
 * log text. The descriptors put in the place of 0 and 1 cannot be read or written: a closed
 * standard output is no wish for silence (/dev/null is), and answers that go nowhere are an
 * error. */
static void standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF) {
            int null = open("/dev/null", fd == 1 ? O_RDONLY : O_WRONLY);
            if (null >= 0 && null != fd) {
                dup2(null, fd);
                close(null);
            }
        }
}

static bool set_log(const struct args *a, struct err *e)
{
    int level = LOG_NOTE;
    static const char *const words[] = {"error", "warning", "info", "debug"};
    static const int levels[] = {LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG};
    const char *name = variable("LOG_LEVEL");
    if (name) {
        int word = 0;
        while (word < 4 && !text_same(name, words[word]))
            word++;
        if (word < 4) {
            level = levels[word];
        } else {
            err_set(e, ERR_ENVIRONMENT, "LOG_LEVEL is \"%s\"", text_quote_z(name));
            const char *near = text_nearest(name, words, 4);
            err_expected(e, "error, warning, info or debug");
            return near ? err_help(e, "did you mean %s?", near) : false;
        }
    }
    static const char *const truths[] = {"false", "true", "0", "1", "no", "yes", "off", "on"};
    const char *debug = variable("DEBUG");
    size_t truth = 0;
    while (debug && truth < 8 && !text_same(debug, truths[truth]))
        truth++;
    if (truth == 8) {
        err_set(e, ERR_ENVIRONMENT, "DEBUG is \"%s\"", text_quote_z(debug));
        return err_expected(e, "true or false");
    }
    if (truth % 2)
        level = LOG_DEBUG;
    if (args_value(a, "quiet"))
        level = LOG_WARNING;
    if (args_value(a, "verbose"))
        level = LOG_INFO;
    level = (int)args_int(a, "verbosity", level);
    const char *format = args_value(a, "log-format");
    log_setup(level, format && strcmp(format, "json") == 0);
    return true;
}

/* One warning for all variables of the form NAME_GPU that no job of dnn reads: they are settings of
 * other programs, or misspelt. */
static void warn_foreign_switches(void)
{
    struct text names = {0};
    for (char **at = environ; *at; at++) {
        char name[64];
        size_t length = strcspn(*at, "=");
        if (length >= sizeof name || !(*at)[length] || !(*at)[length + 1])
            continue;
        snprintf(name, sizeof name, "%.*s", (int)length, *at);
        if (text_ends(name, "_GPU") && !config_switch_known(name))
            text_printf(&names, "%s%s", names.length ? ", " : "", text_quote_z(name));
    }
    if (names.length)
        log_warning("no job of dnn reads %s: `dnn help environment` lists the variables",
                    names.data);
    text_free(&names);
}

/* Read --log-format before parsing, so that parse errors use it. */
static void set_format(const struct command *c, int argc, char **argv)
{
    static const struct command none = {.name = ""};
    const char *format = args_ahead(c ? c : &none, argc, argv, "log-format");
    log_setup(log_level(), format && strcmp(format, "json") == 0);
}

static int no_command(const char *word, int argc, char **argv)
{
    struct err e = {0};
    const char *known[32];
    size_t count = 0;
    const char *bare = word + strspn(word, "-");
    for (; commands[count]; count++)
        known[count] = commands[count]->name;
    known[count++] = "version";
    bool version = strcmp(word, "-V") == 0 || strcmp(word, "-v") == 0;
    const char *near = version ? "version" : text_nearest(bare, known, count);
    if (word[0] == '-')
        err_set(&e, ERR_OPTION_UNKNOWN, "no option \"%s\" without a command", text_quote_z(word));
    if (word[0] == '-' && !(near && strcmp(near, "version") == 0)) {
        err_help(&e, "dnn --help, dnn --version, or dnn COMMAND [options]");
    } else {
        if (word[0] != '-')
            err_set(&e, ERR_COMMAND, "there is no command \"%s\"", text_quote_z(word));
        if (near)
            err_help(&e, "did you mean `dnn %s%s`?", strcmp(near, "version") == 0 ? "--" : "",
                     near);
        else
            err_help(&e, "`dnn help` lists the commands");
    }
    struct args a = {0};
    for (int i = 1; i < argc; i++) /* before the command, too */
        a.json |= strcmp(argv[i], "--json") == 0;
    return cli_fail(&a, &e, NULL);
}

static bool is_shared(const char *input, struct err *e)
{
    if (strcmp(input, "-") == 0 ? !file_is_input("-") : !file_is_output(input))
        return false;
    err_set(e, ERR_SAME_FILE, "standard output is the input \"%s\"", text_quote_z(input));
    return !err_help(e, "choose another output; nothing was written");
}

/* `dnn evaluate m.dnn rows.csv >>rows.csv` would add to its own input. The inputs that a config
 * names are checked by config/output.h. */
static bool shares_input(const struct args *a, struct err *e)
{
    for (size_t i = 0; i < a->positional_count; i++)
        if (is_shared(a->positionals[i], e))
            return true;
    for (size_t i = 0; i < a->value_count; i++)
        if (a->options[i]->flags & ARG_READ && is_shared(a->values[i], e))
            return true;
    return false;
}

static const struct args *_Atomic running;

const struct args *cli_running(void)
{
    return running;
}

static int run_command(const struct command *c, int argc, char **argv)
{
    struct args a = {.command = c};
    struct err e = {0};
    int code;
    running = &a;
    char ends[] = "--", *page_of[] = {ends, argc > 0 ? argv[0] : NULL};
    if (c == &command_help && argc == 1 && strcmp(argv[0], "--help") != 0 &&
        strcmp(argv[0], "-h") != 0 &&
        help_is_option(argv[0])) { /* `dnn help --option` shows the page of the option */
        argc = 2;
        argv = page_of;
    }
    bool parsed = args_parse(&a, c, argc, argv, &e);
    bool told = a.help || c == &command_help || c == &command_schema || c == &command_completion;
    bool logs = parsed && set_log(&a, &e);
    if (logs && c->flags & COMMAND_COMPUTES && !reexec_why())
        warn_foreign_switches();
    if (!parsed || (!logs && !told)) /* a page needs no variable to be right */
        code = cli_fail(&a, &e, NULL);
    else if (a.help) {
        struct text page = {0};
        help_command(c, &page);
        code = cli_print(&a, &page);
    } else if (!told && shares_input(&a, &e))
        code = cli_fail(NULL, &e, NULL); /* not with --json's object on that output */
    else
        code = c->run(&a);
    running = NULL;
    args_free(&a);
    return code;
}

/* Raises a stack limit below STACK_LEAST, for threads too; a failure is an error now, not a fault
 * in the middle of the work. */
static bool stack_raise(struct err *e)
{
    enum { STACK_LEAST = 1 << 20 };
    struct rlimit limit;
    pthread_attr_t attributes;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= STACK_LEAST)
        return true;
    struct rlimit wanted = {STACK_LEAST,
                            limit.rlim_max < STACK_LEAST ? STACK_LEAST : limit.rlim_max};
    if (setrlimit(RLIMIT_STACK, &wanted) != 0) {
        err_set(e, ERR_MEMORY, "the stack limit is %s, and dnn needs %s",
                text_bytes(limit.rlim_cur), text_bytes(STACK_LEAST));
        return err_help(e, "raise it, as with `ulimit -s 8192`");
    }
    if (pthread_attr_init(&attributes) == 0) {
        pthread_attr_setstacksize(&attributes, STACK_LEAST);
        pthread_setattr_default_np(&attributes);
        pthread_attr_destroy(&attributes);
    }
    return true;
}

int cli_main(int argc, char **argv)
{
    struct err small = {0};
    standard_descriptors();
    if (!stack_raise(&small))
        return cli_fail(NULL, &small, NULL);
    mem_start();
    mem_on_failure(cli_out_of_memory);
    machine_on_stuck(cli_stuck);
    reexec_begin(argv);
    stop_install();
    if (reexec_why())
        stop_take_on();
    struct text page = {0};
    if (argc < 2) {
        help_overview(&page);
        if (page.length) /* log_raw ends the line itself */
            page.data[--page.length] = '\0';
        log_raw("error", page.data);
        text_free(&page);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        if (argc > 3 || (argc == 3 && strcmp(argv[2], "--json") != 0))
            return no_command(argv[2], argc, argv);
        return version_run(argc == 3);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        help_overview(&page);
        int code = cli_print(NULL, &page);
        text_free(&page);
        return code;
    }
    const struct command *c = command_find(argv[1]);
    set_format(c, argc - 2, argv + 2);
    int code = c ? run_command(c, argc - 2, argv + 2) : no_command(argv[1], argc, argv);
    if (!machine_abandoned())
        return code;
    fflush(NULL);
    _exit(code);
}
