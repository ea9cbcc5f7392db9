/* help_tables.c - the tables of pages, made from those of the program: a line "@name" of a page
 * stands for one. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "backend/backend.h"
#include "backend/toolkit.h"
#include "base/process/stop.h"
#include "cli/help.h"
#include "config/config.h"
#include "config/config_help.h"
#include "csv/csv.h"
#include "measure/metric.h"
#include "model/layer.h"
#include "table/schema/sequence.h"
#include "table/schema/terms.h"
#include "table/schema/vocab.h"
#include "train/search/tune.h"

static const struct {
    enum exit_code code;
    const char *words;
} codes[] = {
#define EXIT_CODE(name, number, words) {EXIT_##name, words},
#include "base/exitcode.def"
#undef EXIT_CODE
};

bool help_exit(const char *word, struct text *out)
{
    bool all = strcmp(word, "exit") == 0, found = false;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", (int)codes[i].code);
        if (!all && strcmp(word, number) != 0)
            continue;
        text_printf(out, "  %3s  %s\n", number, codes[i].words);
        found = true;
    }
    return found;
}

static const struct { const char *names, *words; } handled[] = {
    {"SIGTERM SIGHUP SIGXCPU",
     "Stop. A training writes a checkpoint, and --resume continues it; other commands leave no "
     "part of an output. Exit 75."},
    {"SIGINT", "Ctrl-C: the same, exit 130."},
    {"SIGUSR1", "A training writes a checkpoint and continues."},
    {"SIGUSR2", "A training prints its progress on standard error."},
    {"SIGPIPE", "The reader of the output has closed it: exit 141, without a message."},
    {"SIGXFSZ", "A file has reached the limit of ulimit -f: the write fails, exit 74."}};

bool help_signals(const char *word, struct text *out)
{
    char name[16] = ""; /* sigterm: the word in capitals */
    bool all = strcmp(word, "signals") == 0 || strcmp(word, "signal") == 0, found = false;
    if (strlen(word) < sizeof name)
        for (size_t i = 0; word[i]; i++)
            name[i] = (char)toupper((unsigned char)word[i]);
    for (size_t i = 0; i < sizeof handled / sizeof *handled; i++) {
        if (!all && !args_listed(handled[i].names, name))
            continue;
        text_printf(out, "%s\n    ", handled[i].names);
        help_wrapped(out, handled[i].words, 4, 4);
        found = true;
    }
    if (found)
        text_printf(out,
                    "\nA second such signal, %g seconds or more after the first, or a second "
                    "Ctrl-C, ends at once (143, 130)\nand removes temporary files. A signal that "
                    "is ignored at the start (nohup) stays ignored. In its first millisecond, "
                    "before dnn\nhas control, the system's own action applies: SIGUSR1 and SIGUSR2 "
                    "end the process.\n",
                    STOP_TOGETHER_S);
    return found;
}

static void toolkits(struct text *out)
{
    text_printf(out, "%-12s %-31s %-14s %-14s %s\n", "toolkit", "driver, at least", "cuDNN (guest)",
                "capability", "up to");
    const struct toolkit *t;
    for (size_t i = 0; (t = toolkit_at(i)); i++) {
        char releases[64], capability[64];
        unsigned major = t->first / 10;
        if (t->last % 10 == 9 && t->last / 10 == major && t->first % 10 == 0)
            snprintf(releases, sizeof releases, "%u.x", major);
        else if (t->first == t->last)
            snprintf(releases, sizeof releases, "%u.%u", major, t->first % 10);
        else
            snprintf(releases, sizeof releases, "%u.%u to %u.%u", major, t->first % 10,
                     t->last / 10, t->last % 10);
        snprintf(capability, sizeof capability, "%u.%u to %u.%u", t->least / 10, t->least % 10,
                 t->most / 10, t->most % 10);
        text_printf(out, "%-12s %-31s %-14s %-14s %s\n", releases, t->driver, t->cudnn, capability,
                    t->newest);
    }
}

/* 65536: 65,536. */
static const char *digits(uint64_t value, char room[32])
{
    char plain[24];
    int length = snprintf(plain, sizeof plain, "%llu", (unsigned long long)value), n = 0;
    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            room[n++] = ',';
        room[n++] = plain[i];
    }
    room[n] = '\0';
    return room;
}

static void row(struct text *out, const char *what, uint64_t most, const char *more)
{
    char room[32];
    text_printf(out, "  %-38s %13s%s%s\n", what, digits(most, room), *more ? "  " : "", more);
}

static void limits(struct text *out)
{
    row(out, "rows of a training", UINT32_MAX - 1, "or what memory holds");
    row(out, "columns of a file", CSV_MOST_COLUMNS, "");
    row(out, "bytes of a cell", CSV_MOST_FIELD, "");
    row(out, "bytes of a line", CSV_MOST_LINE, "");
    row(out, "bytes of a column's name", CSV_MOST_NAME, "");
    row(out, "categories of a column", VOCAB_MOST, "");
    row(out, "labels", VOCAB_MOST, "or what memory holds");
    row(out, "hashed terms of a text", TERM_SLOTS_MOST, "later ones are left out");
    row(out, "rows of a window (sequences)", SEQUENCE_WINDOW_MOST, "");
    row(out, "layers of a network", LAYER_MOST, "");
    row(out, "units of a layer", (uint64_t)LAYER_MOST_UNITS, "");
    row(out, "rows of a step (train.batch_size)", TRAIN_BATCH_MOST, "");
    row(out, "entries of ensemble.members", ENSEMBLE_MEMBERS, "");
    row(out, "trials of tune", TUNE_MOST, "");
    row(out, "threads", THREADS_MOST, "");
    row(out, "GPUs of one network", 1, "");
}

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

bool help_errors(int family, struct text *out)
{
    const struct err_info *info;
    bool any = false;
    for (size_t i = 0; (info = err_info_at(i)); i++)
        if (family < 0 || (int)info->id / 100 == family) {
            text_printf(out, "  E%d  %3d  %s\n", (int)info->id, (int)info->exit, info->summary);
            any = true;
        }
    return any;
}

static void error_ids(struct text *out)
{
    help_errors(-1, out);
}

static void kernels(struct text *out)
{
    text_printf(out, "This build has %s.\n", machine_known("cuda") ? "GPU kernels"
                                             : "no GPU kernels (made without nvcc)");
}

static const struct { const char *name; void (*write)(struct text *out); } tables[] = {
    {"@exit-codes", exit_codes},   {"@signals", signals},      {"@environment", environment},
    {"@keys", config_reference},   {"@layers", layers},        {"@metrics", metrics},
    {"@errors", error_ids},        {"@toolkits", toolkits},    {"@kernels", kernels},
    {"@limits", limits}};

bool help_table(const char *line, size_t length, struct text *out)
{
    for (size_t t = 0; *line == '@' && t < sizeof tables / sizeof *tables; t++)
        if (strlen(tables[t].name) == length && memcmp(tables[t].name, line, length) == 0) {
            tables[t].write(out);
            return true;
        }
    return false;
}
