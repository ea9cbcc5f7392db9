/* json_out.c - JSON text: from a tree, or piece by piece without one. The output is always valid
 * JSON: bytes that are not UTF-8 become U+FFFD, numbers that are not finite become null. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "base/utf8.h"

static void put_string(struct text *out, const char *bytes, size_t length)
{
    text_char(out, '"');
    for (size_t i = 0; i < length;) {
        size_t plain = i;
        while (plain < length && (unsigned char)bytes[plain] >= 0x20 &&
               (unsigned char)bytes[plain] < 0x7f && bytes[plain] != '"' && bytes[plain] != '\\')
            plain++;
        text_add(out, bytes + i, plain - i);
        i = plain;
        if (i == length)
            break;
        unsigned char c = (unsigned char)bytes[i];
        if (c >= 0x80) {
            size_t wide = i;
            while (wide < length && (unsigned char)bytes[wide] >= 0x80)
                wide++;
            size_t valid = utf8_valid_prefix(bytes + i, wide - i);
            text_add(out, bytes + i, valid);
            i += valid;
            if (i < wide) {
                text_put(out, "\xef\xbf\xbd");
                i++;
            }
            continue;
        }
        static const char plain_escapes[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
        const char *found = c ? strchr(plain_escapes, c) : NULL;
        if (found)
            text_printf(out, "\\%c", letters[found - plain_escapes]);
        else
            text_printf(out, "\\u%04x", (unsigned)c);
        i++;
    }
    text_char(out, '"');
}

static void put_number(struct text *out, double value)
{
    char digits[40];
    if (!isfinite(value)) {
        text_put(out, "null");
        return;
    }
    if (value == floor(value) && fabs(value) <= 9007199254740992.0) { /* 2^53 */
        text_printf(out, "%.0f", value);
        return;
    }
    for (int precision = 15; precision <= 17; precision++) {
        double back;
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (text_to_double(digits, &back) && back == value)
            break;
    }
    text_put(out, digits);
}

/* indent 0: everything on one line, without blanks. Otherwise a container without containers that
 * fits is on one line too. */
enum { NARROW = 72 };

static void new_line(struct text *out, int indent, int depth)
{
    if (indent > 0)
        text_printf(out, "\n%*s", indent * depth, "");
}

static bool flat(const struct json *v)
{
    for (const struct json *child = json_at(v, 0); child; child = json_next(child))
        if (json_kind(child) == JSON_LIST || json_kind(child) == JSON_OBJECT)
            return false;
    return true;
}

static void write_value(struct text *out, const struct json *v, int indent, int depth);

/* indent -1: on one line, with a blank after commas and colons. */
static void write_children(struct text *out, const struct json *v, int indent, int depth)
{
    bool object = json_kind(v) == JSON_OBJECT;
    const struct json *first = json_at(v, 0);
    text_char(out, object ? '{' : '[');
    for (const struct json *child = first; child; child = json_next(child)) {
        if (child != first)
            text_put(out, indent < 0 ? ", " : ",");
        new_line(out, indent, depth + 1);
        if (object) {
            put_string(out, json_key(child), strlen(json_key(child)));
            text_put(out, indent ? ": " : ":");
        }
        write_value(out, child, indent, depth + 1);
    }
    if (first)
        new_line(out, indent, depth);
    text_char(out, object ? '}' : ']');
}

static void write_value(struct text *out, const struct json *v, int indent, int depth)
{
    switch (json_kind(v)) {
    case JSON_NULL: text_put(out, "null"); return;
    case JSON_FALSE: text_put(out, "false"); return;
    case JSON_TRUE: text_put(out, "true"); return;
    case JSON_NUMBER: put_number(out, json_number(v)); return;
    case JSON_STRING: put_string(out, json_string(v), strlen(json_string(v))); return;
    case JSON_LIST:
    case JSON_OBJECT: break;
    }
    if (indent > 0 && depth > 0 && json_count(v) <= NARROW && flat(v)) {
        struct text line = {0};
        write_children(&line, v, -1, depth);
        bool fits = line.length <= NARROW;
        if (fits)
            text_add(out, line.data, line.length);
        text_free(&line);
        if (fits)
            return;
    }
    write_children(out, v, indent, depth);
}

void json_write(struct text *out, const struct json *v, int indent)
{
    write_value(out, v, indent, 0);
}

/* --- without a tree --- */

static void begin(struct json_out *o, const char *key)
{
    if (o->comma[o->depth])
        text_char(&o->text, ',');
    o->comma[o->depth] = true;
    if (key) {
        put_string(&o->text, key, strlen(key));
        text_char(&o->text, ':');
    }
}

void json_open(struct json_out *o, const char *key, char bracket)
{
    assert(bracket == '{' || bracket == '[');
    assert((size_t)o->depth + 1 < sizeof o->comma / sizeof o->comma[0]);
    begin(o, key);
    text_char(&o->text, bracket);
    o->comma[++o->depth] = false;
}

void json_close(struct json_out *o, char bracket)
{
    assert(o->depth > 0 && (bracket == '}' || bracket == ']'));
    o->depth--;
    text_char(&o->text, bracket);
}

void json_put_string(struct json_out *o, const char *key, const char *value)
{
    if (value)
        json_put_string_n(o, key, value, strlen(value));
    else
        json_put_null(o, key);
}

void json_put_string_n(struct json_out *o, const char *key, const char *value, size_t length)
{
    begin(o, key);
    put_string(&o->text, value, length);
}

void json_put_int(struct json_out *o, const char *key, int64_t value)
{
    begin(o, key);
    text_printf(&o->text, "%" PRId64, value);
}

void json_put_number(struct json_out *o, const char *key, double value)
{
    begin(o, key);
    put_number(&o->text, value);
}

void json_put_bool(struct json_out *o, const char *key, bool value)
{
    begin(o, key);
    text_put(&o->text, value ? "true" : "false");
}

void json_put_null(struct json_out *o, const char *key)
{
    begin(o, key);
    text_put(&o->text, "null");
}

void json_put_strings(struct json_out *o, const char *key, char *const *items, size_t count)
{
    json_open(o, key, '[');
    for (size_t i = 0; i < count; i++)
        json_put_string(o, NULL, items[i]);
    json_close(o, ']');
}

void json_put_raw(struct json_out *o, const char *key, const char *json)
{
    begin(o, key);
    text_put(&o->text, json);
}
