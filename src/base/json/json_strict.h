/* json_strict.h - the gate in front of cJSON: the grammar of RFC 8259 and our limits, and where
 * each value stands. Private to json*.c and json_tree.h. Offsets count from the first byte after a
 * byte-order mark. */
#ifndef DNN_BASE_JSON_STRICT_H
#define DNN_BASE_JSON_STRICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json/json.h"

#define JSON_NO_KEY UINT32_MAX

/* One value, in pre-order: a container before its members, a member's key with its value. */
struct json_spot {
    uint32_t value,
        end;      /* first byte and the one after the last of a number; end is 0 for other kinds */
    uint32_t key; /* the opening quote of its key, JSON_NO_KEY when it has none */
};
struct json_index {
    struct json_spot *spots; /* mem_free */
    size_t count;
    const char *text; /* [length], from which lines are counted; the arena's */
    size_t length;
};

size_t json_bom(const char *text, size_t length); /* bytes of a byte-order mark: 0 or 3 */
/* Lines end with LF, CRLF or CR; a column is a byte of its line, both from 1. */
void json_line_column(const char *text, size_t length, size_t offset, int64_t *line,
                      int64_t *column);
/* true: text is one JSON value within the limits: `own` for the program's own JSON, else those of a
 * file. A key may stand twice. Fills index->spots; on failure the caller frees them as well. */
bool json_scan(const char *text, size_t length, const char *name, bool own,
               struct json_index *index, struct err *e);

/* --- between json_strict.c and json_strict_string.c --- */

struct json_scanner {
    const char *text;
    size_t length, at;
    const char *name;
    size_t opened[JSON_MOST_DEPTH]; /* where the containers around `at` begin */
    size_t depth;
    bool started; /* anything but blanks was seen */
    size_t keys, key_most;
    struct json_index *index;
    struct err *e;
};

/* Fills s->e with the place of offset and returns false. */
bool json_scan_fail(struct json_scanner *s, enum err_id id, size_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
int64_t json_scan_line(const struct json_scanner *s, size_t offset);
/* The unexpected character at s->at, quoted. */
const char *json_scan_culprit(const struct json_scanner *s);
/* Reads from the opening quote at s->at past the closing one; cJSON decodes it. */
bool json_scan_string(struct json_scanner *s);

#endif
