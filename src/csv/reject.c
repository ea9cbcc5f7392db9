/* reject.c - writes the rejected rows as a CSV file. */
#include "csv/reject.h"

#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/text.h"
#include "csv/field.h"

struct held_row {
    size_t at; /* the input */
    int64_t line;
    size_t from, length; /* in reject.waits */
};

struct reject {
    struct outfile out;
    bool files, holds;
    struct text waits;
    struct held_row *held;
    size_t held_count;
};

struct reject *reject_open(const char *path, bool files, struct err *e)
{
    const char *header = files ? REJECT_BEGIN ",file\n" : REJECT_BEGIN "\n";
    struct reject *r = mem_zero(1, sizeof *r);
    r->files = files;
    if (outfile_open(&r->out, path, e)) {
        if (outfile_write(&r->out, header, strlen(header), e))
            return r;
        outfile_abort(&r->out);
    }
    mem_free(r);
    return NULL;
}

/* Limits the length without cutting a UTF-8 character. Text that is not UTF-8 is cut anywhere. */
static size_t whole_characters(const char *raw, size_t most)
{
    size_t length = most;
    while (length && most - length < 3 && ((unsigned char)raw[length] & 0xC0) == 0x80)
        length--;
    return ((unsigned char)raw[length] & 0xC0) == 0xC0 ? length : most;
}

static void hold(struct reject *r, size_t at, int64_t line, const struct text *row)
{
    r->held = mem_more(r->held, r->held_count, sizeof *r->held);
    r->held[r->held_count++] = (struct held_row){at, line, r->waits.length, row->length};
    text_add(&r->waits, row->data, row->length);
}

bool reject_add(struct reject *r, const struct err *why, const char *column_name, const char *raw,
                size_t length, size_t at, const char *file, struct err *e)
{
    struct text line = {0}, reason = {0};
    text_put(&reason, why->what);
    if (length > REJECT_RAW) {
        length = whole_characters(raw, REJECT_RAW);
        text_printf(&reason, " (raw: its first %zu bytes)", length);
    }
    text_printf(&line, "%lld,%lld,", (long long)why->line, (long long)why->column);
    if (column_name)
        field_put(&line, column_name, strlen(column_name));
    text_printf(&line, ",E%d,", (int)why->id);
    field_put(&line, reason.data, reason.length);
    text_free(&reason);
    text_char(&line, ',');
    field_put(&line, raw, length);
    if (r->files) {
        text_char(&line, ',');
        field_put(&line, file, strlen(file));
    }
    text_char(&line, '\n');
    bool good = true;
    if (r->holds)
        hold(r, at, why->line, &line);
    else
        good = outfile_write(&r->out, line.data, line.length, e);
    text_free(&line);
    return good;
}

void reject_hold(struct reject *r)
{
    r->holds = true;
}

static int by_line(const void *one, const void *other, const void *context)
{
    const struct held_row *a = one, *b = other;
    (void)context;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    return a->line < b->line ? -1 : a->line > b->line;
}

bool reject_release(struct reject *r, struct err *e)
{
    bool good = true;
    sort_stable(r->held, r->held_count, sizeof *r->held, by_line, NULL);
    for (size_t i = 0; good && i < r->held_count; i++)
        good = outfile_write(&r->out, r->waits.data + r->held[i].from, r->held[i].length, e);
    text_clear(&r->waits);
    r->held_count = 0;
    r->holds = false;
    return good;
}

bool reject_prepare(struct reject *r, struct err *e)
{
    return reject_release(r, e) && outfile_prepare(&r->out, e);
}

static void release(struct reject *r)
{
    text_free(&r->waits);
    mem_free(r->held);
    mem_free(r);
}

bool reject_commit(struct reject *r, struct err *e)
{
    bool good = outfile_commit(&r->out, e);
    release(r);
    return good;
}

void reject_abort(struct reject *r)
{
    if (!r)
        return;
    outfile_abort(&r->out);
    release(r);
}
