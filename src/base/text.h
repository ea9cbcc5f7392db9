/* text.h - growing strings, quoting for messages, numbers to text, the nearest known word. */
#ifndef DNN_BASE_TEXT_H
#define DNN_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The digits of a number that has a name, as a literal. */
#define TEXT_DIGITS_AS(number) #number
#define TEXT_DIGITS(number) TEXT_DIGITS_AS(number)

/* A growing string; zero-initialised is empty. data is NUL-terminated once anything was added. */
struct text {
    char *data;
    size_t length, room;
};
void text_add(struct text *t, const char *bytes, size_t length);
void text_put(struct text *t, const char *string);
void text_char(struct text *t, char c);
void text_printf(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_clear(struct text *t); /* keeps the room */
void text_room(struct text *t, size_t more); /* that may be added without a move of data */
void text_free(struct text *t);

/* User text for a message: control bytes and invalid UTF-8 as \x1b, double quotes as \", cut at 80
 * bytes with "...", no surrounding quotes. Returns one of 8 rotating thread-local buffers. */
const char *text_quote(const char *bytes, size_t length);
const char *text_quote_z(const char *string);
/* As above without escaping quotes, into out, cut to room with "...": paths and excerpts. */
void text_escape(char *out, size_t room, const char *bytes, size_t length);

/* The length of the character at bytes; 0 if it is not valid UTF-8 or steers a terminal: a control,
 * a line separator, a mark of direction. length > 0. */
size_t text_visible(const char *bytes, size_t length);

/* The known word nearest to `word` (Damerau-Levenshtein, case folded), NULL when none is near
 * enough to be meant. */
const char *text_nearest(const char *word, const char *const *known, size_t count);

/* "%.9g" of a float32-valued answer in the C locale, never "-0"; returns the length. room >= 32. */
size_t text_number(char *out, double value);
/* A figure for people: this many significant digits, as "%.*g", but every digit before the point,
 * without an exponent, from 1 to below 1e16. Returns one of 16 rotating thread-local buffers. */
const char *text_figure(double value, int digits);
/* "1.2 GiB", "640 KiB": rotating thread-local buffer. */
const char *text_bytes(uint64_t bytes);
/* The whole string as an integer or a double (C locale, no blanks, no hex; a double may be .5, 5.
 * or +5); false when it is not one or does not fit. */
bool text_to_int(const char *string, int64_t *value);
bool text_to_double(const char *string, double *value);
/* A duration in seconds: 90, 1.5, 90s, 5m, 2h, 1h30m, 1d, 500ms (the units d, h, m or min, s or
 * sec, ms, the largest first). */
bool text_to_seconds(const char *string, double *value);
static inline bool text_is_digit(char c)
{
    return c >= '0' && c <= '9';
}
static inline bool text_is_letter(char c) /* of ASCII */
{
    return (c | 32) >= 'a' && (c | 32) <= 'z';
}
/* True: the two are the same word, in any case of ASCII letters. */
bool text_same(const char *a, const char *b);
bool text_ends(const char *string, const char *ending);

#endif
