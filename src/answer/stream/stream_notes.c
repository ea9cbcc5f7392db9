/* stream_notes.c - the notes and warnings at the end of a stream. */
#include "answer/stream/drift_note.h"
#include "answer/stream/stream.h"
#include "base/log.h"
#include "base/text.h"

/* If no row can be read, the reason of the first one is told, with --quiet as well. */
static void note_bad_rows(const struct stream *t)
{
    const char *fate = t->request.on_bad_row == BAD_ROW_SKIP ? "left out" : "no answer";
    unsigned long long bad = t->bad_rows, rows = t->rows - t->unlabelled - t->weightless;
    const struct err *why = t->alike && t->other_form.id ? &t->other_form : &t->first_bad;
    if (bad < rows) {
        log_note("%llu of %llu rows cannot be read: %s", bad, rows, fate);
        return;
    }
    struct text place = {0};
    if (why->file[0])
        text_printf(&place, "%s:%lld: ", text_quote_z(why->file), (long long)why->line);
    log_warning("%llu of %llu rows cannot be read: %s; %s: %s%s (E%d)%s%s%s", bad, rows, fate,
             t->alike && bad > 1 ? "all for one reason, as the first" : "the first one",
             place.data ? place.data : "", why->what, (int)why->id, *why->help ? "; " : "",
             why->help,
             t->request.labelled || t->request.max_bad_rows >= 0
                 ? ""
                 : "; --max-bad-rows N makes more than N an error (65)");
    text_free(&place);
}

/* The model's labels are numbers, and the rows write them otherwise: 1.0 for 1. */
static void note_respelt(const struct stream *t)
{
    enum { NAMED = 4 };
    const struct vocab *labels = t->schema->labels;
    struct text list = {0};
    for (uint32_t i = 0; i < vocab_count(labels) && i < NAMED; i++)
        text_printf(&list, "%s\"%s\"", i ? ", " : "", text_quote_z(vocab_text(labels, i, NULL)));
    log_note("%llu labels are not written as in training: they count as the equal numbers among "
             "%s%s", (unsigned long long)t->drift->respelt, list.data,
             vocab_count(labels) > NAMED ? ", ..." : "");
    text_free(&list);
}

/* Rows that the model was trained on tell too much good of it. */
static void note_known(const struct stream *t)
{
    bool sure = false;
    double share =
        t->keys ? fingerprint_share(t->serve->file->known, &t->lookups, &sure) : 0;
    const struct fingerprint *known = t->serve->file->known;
    if (sure)
        log_warning("about %.*f %% of these rows are rows that the model was trained on: its "
                    "figures are better here than on new rows; %s (`dnn help held-out`)",
                    share < 0.1, 100 * share,
                    known->numbers[FINGERPRINT_OWN] & FINGERPRINT_HELD
                        ? "the weights of its start knew held-out rows too"
                    : known->numbers[FINGERPRINT_ROWS + PART_TEST] == 0
                        ? "the training left no test rows"
                    : known->numbers[FINGERPRINT_OWN] >> PART_TEST & 1
                        ? "its test rows have a file of their own"
                        : "`--part test` takes the held-out rows of the training file");
}

void stream_notes(const struct stream *t)
{
    const uint64_t blank = t->blank_lines - t->choice.blanked;
    note_known(t);
    drift_note(t->drift, t->encoder, t->rows);
    if (t->unlabelled)
        log_note("%llu of %llu rows have no target: left out", (unsigned long long)t->unlabelled,
                 (unsigned long long)t->rows);
    if (t->weightless)
        log_note("the weight is 0 in %llu of %llu rows, which count for nothing: left out",
                 (unsigned long long)t->weightless, (unsigned long long)t->rows);
    if (t->drift->respelt)
        note_respelt(t);
    if (blank)
        log_note("%llu blank line%s left out", (unsigned long long)blank, blank == 1 ? "" : "s");
    odd_steps_note(&t->odd, t->schema);
    if (t->stepless)
        log_warning("%llu of %llu rows have no step, as every cell of the sequence is missing: "
                    "their answers tell nothing of them", (unsigned long long)t->stepless,
                    (unsigned long long)t->rows);
    if (t->bad_rows)
        note_bad_rows(t);
    const char *encoding = csv_encoding_names[t->dialect.encoding];
    if (t->in_utf8)
        log_warning("all text beyond ASCII in the input is valid UTF-8, and it is read as %s: its "
                    "categories will not be found; give --encoding utf-8", encoding);
    if (t->foreign.length)
        log_warning("%s", t->foreign.data);
}
