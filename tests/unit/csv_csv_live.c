/* csv_csv_live.c - a pipe whose writer pauses: what is read does not depend on where it does, and
 * whole records are given before more is waited for. The writer is called when the reader is about
 * to wait, so no clock is asked. */
#include "csv_csv_help.h"

#define PIECE_MOST 60000u /* a pipe takes that much without a reader */

struct writer {
    const char *bytes;
    size_t length, at;
    size_t cut, step; /* the first piece ends at cut; the others have step bytes */
    int fd;
    const struct reading *reading;
    size_t pauses;
    size_t seen[8]; /* bytes of r->records at the pauses */
};

static bool write_piece(void *context, struct err *e)
{
    struct writer *w = context;
    (void)e;
    if (w->pauses < 8)
        w->seen[w->pauses++] = w->reading->records.length;
    size_t end = w->at < w->cut ? w->cut : w->at + w->step;
    if (end > w->length)
        end = w->length;
    size_t count = end - w->at;
    if (count && write(w->fd, w->bytes + w->at, count) != (ssize_t)count)
        return err_set(e, ERR_FILE_WRITE, "the pipe is full");
    w->at = end;
    if (count == 0) {
        close(w->fd);
        w->fd = -1;
    }
    return true;
}

static void read_live(struct reading *r, const struct csv_dialect *d, struct writer *w)
{
    int ends[2];
    char name[32], *path = name;
    *r = (struct reading){0};
    if (pipe(ends) != 0)
        return;
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    w->fd = ends[1];
    w->at = w->pauses = 0;
    w->reading = r;
    struct csv *c = csv_open(d, &path, 1, &r->e);
    if (c)
        csv_live(c, write_piece, w);
    read_csv(r, d, c);
    close(ends[0]);
    if (w->fd >= 0)
        close(w->fd);
}

static bool is_same_text(const struct text *a, const struct text *b)
{
    return a->length == b->length && (!a->length || memcmp(a->data, b->data, a->length) == 0);
}

static bool is_same(const struct reading *a, const struct reading *b)
{
    const size_t words = strcspn(a->e.help, "/"); /* a command names the file */
    return is_same_text(&a->names, &b->names) && is_same_text(&a->records, &b->records) &&
           a->blank_lines == b->blank_lines && a->e.id == b->e.id && a->e.line == b->e.line &&
           a->e.column == b->e.column && strcmp(a->e.what, b->e.what) == 0 &&
           strncmp(a->e.help, b->e.help, words) == 0;
}

#define TEXT(s) s, sizeof s - 1

static const struct {
    const char *name, *bytes;
    size_t length;
    struct csv_dialect d;
} texts[] = {
    {"plain", TEXT("a,b\n1,2\n3,4"), COMMA},
    {"CRLF", TEXT("a,b\r\n1,2\r\n3,4\r\n"), COMMA},
    {"CR", TEXT("a,b\r1,2\r3,4\r"), COMMA},
    {"quotes", TEXT("a,b\n\"1\n2\", \"x\"\"\" \n\"\"\"\",3\n"), COMMA},
    {"CRLF in quotes", TEXT("a,\"b\r\n\"\r\n\"1\r\n\",2\r\n"), COMMA},
    {"blank lines", TEXT("\n\na,b\n\n1,2\r\n\r\n\n3,4\n \n"), COMMA},
    {"one column", TEXT("a\n\n1\n \n2\n\n"), COMMA},
    {"no header", TEXT("1,2\n3,4\n"), {.delimiter = ','}},
    {"byte-order mark", TEXT("\xef\xbb\xbf" "a\n\xc3\xa4\n"), COMMA},
    {"latin1",
     TEXT("a\n\xe4\n\xf6\n"),
     {.delimiter = ',', .header = true, .encoding = ENCODING_LATIN1}},
    {"a stray quote", TEXT("a,b\n1,2\n3,\"4\"5\n6,7\n"), COMMA},
    {"a stray quote lines later", TEXT("a,b\n\"\n1,2\n3,\"x\n5,6\n"), COMMA},
    {"a quote that stays open", TEXT("a,b\n1,2\n3,\"4\n5,6\n"), COMMA},
    {"a stray CR", TEXT("a,b\n1,2\n3\r,4\n"), COMMA},
    {"a stray CR in the header", TEXT("a,b\rc\n1,2\n"), COMMA},
    {"a NUL", TEXT("a,b\n1,2\n3,\0\n"), COMMA},
    {"bad UTF-8", TEXT("a,b\n1,2\n\xc3,4\n"), COMMA},
    {"UTF-16", TEXT("a\0,\0b\0\n\0" "1\0,\0" "2\0\n\0"), COMMA},
    {"gzip, cut", TEXT("\x1f\x8b\x08\n\n"), COMMA},
    {"gzip, two members",
     TEXT("\x1f\x8b\x08\0\0\0\0\0\x02\x03\x4b\xd4\x49\xe2\x32\xd4\x31\xe2\x02\0\x7b\x07"
          "\x97\x0a\x08\0\0\0" "\x1f\x8b\x08\0\0\0\0\0\x02\x03\x33\xd6\x31\xe1\x32\xd5\x31"
          "\xe3\x02\0\x79\x4a\x4d\x2c\x08\0\0\0"),
     COMMA},
    {"nothing", TEXT(""), COMMA},
    {"blank only", TEXT("\n \n"), COMMA},
};

static void test_cuts(void)
{
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct reading whole, live;
        struct writer w = {.bytes = texts[i].bytes, .length = texts[i].length};
        size_t differing = 0, where = 0;
        read_bytes(&whole, &texts[i].d, w.bytes, w.length);
        for (w.cut = 1; w.cut <= w.length + 1; w.cut++) {
            w.step = w.cut > w.length ? 1 : w.length; /* in two; the last time byte by byte */
            if (w.cut > w.length)
                w.cut = 0;
            read_live(&live, &texts[i].d, &w);
            if (!is_same(&whole, &live) && !differing++)
                where = w.cut;
            drop(&live);
            if (w.cut == 0)
                break;
        }
        ok(!differing, "%s: read alike wherever the writer pauses", texts[i].name);
        if (differing)
            printf("#   %zu cuts differ, the first behind byte %zu\n", differing, where);
        drop(&whole);
    }
}

static void test_prompt(void)
{
    static const char bytes[] = "a,b\n1,2\n3,\"4\n5\"\r\n6";
    static const char *const want[] = {"", "2:1|2|\n", "2:1|2|\n3:3|\"4\n5\"|\n"};
    struct reading r;
    struct writer w = {.bytes = bytes, .length = sizeof bytes - 1, .cut = 10, .step = 8};
    read_live(&r, &comma, &w);
    /* before the first piece, between the two, before the end */
    ok(w.pauses == 3, "the reader waits three times");
    for (size_t i = 0; i < 3 && i < w.pauses; i++)
        ok(w.seen[i] == strlen(want[i]) && !strncmp(r.records.length ? r.records.data : "", want[i],
                                                    w.seen[i]),
           "what is whole at pause %zu was given", i + 1);
    is_string(r.records.data, "2:1|2|\n3:3|\"4\n5\"|\n5:6|\n", "and the rest at the end");
    drop(&r);
}

/* A record that is longer than a block, and many that fill some. */
static void test_long(void)
{
    struct text t = {0};
    struct reading whole, live;
    text_put(&t, "a,b\n");
    for (int i = 0; i < 60000; i++)
        text_printf(&t, "%d,x\n", i);
    text_put(&t, "1,\"");
    for (int i = 0; i < 60000; i++)
        text_put(&t, "12345\n");
    text_put(&t, "\"\n2,3\n");
    read_bytes(&whole, &comma, t.data, t.length);
    struct writer w = {.bytes = t.data, .length = t.length, .cut = 5, .step = PIECE_MOST};
    read_live(&live, &comma, &w);
    ok(is_same(&whole, &live) && live.blocks > 3, "long records and many, in %u blocks",
       (unsigned)live.blocks);
    drop(&whole);
    drop(&live);
    text_free(&t);
}

static bool refuse(void *context, struct err *e)
{
    (void)context;
    return err_set(e, ERR_FILE_WRITE, "nobody listens");
}

static void test_refusal(void)
{
    int ends[2];
    char name[32], *path = name;
    struct reading r = {0};
    if (pipe(ends) != 0)
        return;
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    struct csv *c = csv_open(&comma, &path, 1, &r.e);
    csv_live(c, refuse, NULL);
    ok(write(ends[1], "a,b\n1,2\n", 8) == 8, "two lines");
    read_csv(&r, &comma, c);
    is_string(r.records.data, "2:1|2|\n", "are read");
    ok(r.e.id == ERR_FILE_WRITE, "and then who is told of the pause may end the reading");
    close(ends[0]);
    close(ends[1]);
    drop(&r);
}

int main(void)
{
    folder_make();
    test_cuts();
    test_prompt();
    test_long();
    test_refusal();
    folder_remove();
    return done();
}
