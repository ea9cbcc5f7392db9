/* reject.c - writes the rejected rows as a CSV file. */
#include "csv/reject.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "csv/field.h"

struct reject {
    struct outfile out;
    bool files;
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

bool reject_add(struct reject *r, const struct err *why, const char *column_name, const char *raw,
                size_t length, const char *file, struct err *e)
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
    bool good = outfile_write(&r->out, line.data, line.length, e);
    text_free(&line);
    return good;
}

bool reject_prepare(struct reject *r, struct err *e)
{
    return outfile_prepare(&r->out, e);
}

bool reject_commit(struct reject *r, struct err *e)
{
    bool good = outfile_commit(&r->out, e);
    mem_free(r);
    return good;
}

void reject_abort(struct reject *r)
{
    if (!r)
        return;
    outfile_abort(&r->out);
    mem_free(r);
}
