/* help_limits.c - the figures of `dnn help limits`. */
#include <stdio.h>

#include "cli/help.h"
#include "config/config.h"
#include "csv/csv.h"
#include "model/layer.h"
#include "table/sequence.h"
#include "table/terms.h"
#include "table/vocab.h"
#include "train/search/tune.h"

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

void help_limits(struct text *out)
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
