/* fuzz_json.c - any bytes to the JSON gate. What the validator lets through cJSON must read, every
 * value must have a place, and writing it out must give text that reads back to the same text. */
#include <stdlib.h>
#include <string.h>

#include "base/json/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(struct json_doc *doc, struct json *v)
{
    int64_t line = 0, column = 0;
    json_place(doc, v, &line, &column);
    if (line < 1 || column < 1)
        abort();
    for (size_t i = 0; i < json_count(v); i++)
        walk(doc, json_at(v, i));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err e = {0};
    struct json_doc *doc = json_parse((const char *)data, size, "fuzz", &e);
    if (!doc) {
        if (e.id == ERR_NONE || e.id == ERR_BUG || !e.what[0])
            abort();
        return 0;
    }
    walk(doc, json_root(doc));
    struct text once = {0}, twice = {0};
    json_write(&once, json_root(doc), 0);
    struct err e3 = {0};
    struct json_doc *again = json_parse(once.data, once.length, "again", &e3);
    if (again) { /* escapes may grow a text beyond the limit of one MiB */
        json_write(&twice, json_root(again), 0);
        if (once.length != twice.length || memcmp(once.data, twice.data, once.length) != 0)
            abort();
    } else if (once.length <= JSON_MOST_BYTES)
        abort();
    json_free(again);
    json_free(doc);
    text_free(&once);
    text_free(&twice);
    return 0;
}
