/* form_amounts.c - the form of a column's numbers that are not plain: the grouping of digits, the
 * units. A reading is proposed only if it reads every cell and one of them proves it. */
#include "csv/form/form_guess.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "csv/form/form.h"

static bool is_sign(char c)
{
    return c == '-' || c == '+';
}

/* --- numbers --- */

/* A unit has letters, `/` and characters outside ASCII: km, °C, m², km/h. */
static bool is_word(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!text_is_letter(text[i]) && !(text[i] & 0x80) &&
            (text[i] != '/' || i == 0))
            return false;
    return true;
}

/* Letters after a number that multiply it. */
static bool is_multiplier(const char *text, size_t length)
{
    static const char *const words[] = {"k", "m", "bn", "mn", "mio"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && strncasecmp(words[i], text, length) == 0)
            return true;
    return false;
}

/* True: a word may stand before a number and be no part of a code: Size 3.5, and not C1000. */
static bool is_front_word(const char *text, size_t length, bool apart)
{
    const bool point = length > 2 && strchr(".:", text[length - 1]);
    return (apart || point) && is_word(text, length - point);
}

/* Keeps a unit. front: before the number; apart: with a blank between. False: too many, or a word
 * beside another one. */
static bool keep_unit(struct form_amounts *a, const char *text, size_t length, bool front,
                      bool apart)
{
    if (!length)
        return true;
    const enum form_unit kind = form_unit(text, length);
    const bool word = kind == UNIT_WORD;
    if (length >= sizeof a->units[0] ||
        (word && !(front ? is_front_word(text, length, apart) : is_word(text, length))))
        return false;
    bool found = false;
    for (unsigned i = 0; i < a->unit_count && !found; i++)
        found = strlen(a->units[i]) == length && memcmp(a->units[i], text, length) == 0;
    if (!found && (a->unit_count == FORM_UNITS || (word && a->words)))
        return false;
    if (!found) {
        memcpy(a->units[a->unit_count], text, length);
        a->units[a->unit_count++][length] = '\0';
        a->words += word;
    }
    a->before |= word && front;
    a->with_words += word;
    return true;
}

/* The first of form_thousands in the digits, but for the decimal sign; NULL: none. */
static const char *separator(const char *from, const char *end, char decimal)
{
    for (const char *at = from; at < end; at++)
        for (size_t i = 0; form_thousands[i] && (*at < '0' || *at > '9'); i++) {
            size_t n = strlen(form_thousands[i]);
            if ((size_t)(end - at) > n && memcmp(at, form_thousands[i], n) == 0 &&
                *at != decimal)
                return form_thousands[i];
        }
    return NULL;
}

/* True: the text has a letter that no number has; an exponent's e is allowed. A text is found out
 * at its first word. */
static bool is_lettered(const char *from, const char *end)
{
    while (from < end && (!text_is_letter(*from) || (*from | 32) == 'e'))
        from++;
    return from < end;
}

/* Looks at the digits of a cell as if the sign were a point, or a comma. */
static void look_as(struct form_amounts *a, int which, const char *from, const char *end,
                    bool share)
{
    char decimal = which ? ',' : '.';
    if (is_lettered(from, end))
        return;
    const char *between = separator(from, end, decimal);
    struct form f = {.thousands = (char *)(uintptr_t)between};
    size_t size = (size_t)(end - from);
    double value;
    if (form_number(&f, from, size, decimal, &value) != NUMBER_OK)
        return;
    if (between && a->between[which] && strcmp(a->between[which], between) != 0)
        return;
    a->read[which]++;
    if (between)
        a->between[which] = between;
    const char *point = memchr(from, decimal, size);
    bool odd = point && (end - point != 4 || point - from > 3 || *from == '0');
    bool groups = false; /* two of them, or a separator that is no decimal sign */
    if (between) {
        const char *first = from;
        while (memcmp(first, between, strlen(between)) != 0)
            first++;
        groups = !strchr(",.", *between) || separator(first + 1, end, decimal);
    }
    a->proofs[which] += odd || groups || (between && point);
    a->cut[which] |= rint(value) > value || rint(value) < value;
    if (share)
        a->share[which] = fmax(a->share[which], fabs(value));
}

void form_amounts_add(struct form_amounts *a, const char *text, size_t length)
{
    const char *from = text, *end = text + length;
    a->cells++;
    if (length > FORM_CELL)
        return;
    form_trim(&from, &end);
    bool closed = form_minus(&from, &end);
    from += from < end && is_sign(*from);
    const char *first = from, *last = end;
    while (first < end && !text_is_digit(*first) &&
           !(strchr(".,", *first) && first + 1 < end && text_is_digit(first[1]) &&
             !(first > from && text_is_letter(first[-1])))) /* Rs.500 */
        first++;
    while (last > first && !text_is_digit(last[-1]))
        last--;
    const char *front_end = first, *behind = last;
    if (first == last)
        return;
    if (front_end > from && is_sign(front_end[-1]))
        front_end--;
    if (!closed && front_end > from && front_end[-1] == '(' && behind < end && *behind == ')') {
        front_end--;
        behind++;
        closed = true;
    }
    form_trim(&from, &front_end);
    form_trim(&behind, &end);
    size_t front = (size_t)(front_end - from);
    const enum form_unit kind = form_unit(from, front);
    a->with_limits += kind == UNIT_LIMIT;
    if (is_multiplier(behind, (size_t)(end - behind)) &&
        (!front || kind != UNIT_WORD)) {
        struct form_amounts number = {.cells = 1};
        look_as(&number, 0, first, last, false);
        look_as(&number, 1, first, last, false);
        a->scaled += number.read[0] || number.read[1];
        return;
    }
    if (!keep_unit(a, from, front, true, front_end < first) ||
        !keep_unit(a, behind, (size_t)(end - behind), false, false))
        return;
    a->closed += closed;
    const bool share = kind == UNIT_SHARE ||
                       form_unit(behind, (size_t)(end - behind)) == UNIT_SHARE;
    look_as(a, 0, first, last, share);
    look_as(a, 1, first, last, share);
}
