/* table_vocab.c - categories: found again, in a defined order, without the ones left out. */
#include "base/mem.h"
#include "base/text.h"
#include "table/schema/schema.h"
#include "tap.h"

static struct vocab *vocab_of(const char *const *texts, size_t count)
{
    struct vocab *v = vocab_new();
    for (size_t i = 0; i < count; i++)
        vocab_add(v, texts[i], strlen(texts[i]));
    return v;
}

/* "a|b|c" in order. */
static const char *listed(const struct vocab *v)
{
    static char out[400];
    size_t at = 0;
    for (uint32_t i = 0; i < vocab_count(v); i++)
        at += (size_t)snprintf(out + at, sizeof out - at, "%s%s", i ? "|" : "",
                               vocab_text(v, i, NULL));
    out[at] = '\0';
    return out;
}

static void test_find(void)
{
    struct vocab *v = vocab_new();
    is_int(vocab_add(v, "red", 3), 0, "the first value is 0");
    is_int(vocab_add(v, "green", 5), 1, "the second is 1");
    is_int(vocab_add(v, "red", 3), 0, "a value met again keeps its index");
    is_int(vocab_add(v, "", 0), 2, "the empty text is a value");
    is_int(vocab_add(v, "re", 2), 3, "a prefix is another value");
    is_int(vocab_find(v, "green", 5), 1, "found");
    is_int(vocab_find(v, "gree", 4), UINT32_MAX, "absent");
    is_int(vocab_find(v, "Green", 5), UINT32_MAX, "case counts");
    size_t length;
    is_string(vocab_text(v, 1, &length), "green", "its text");
    is_int(length, 5, "its length");
    vocab_free(v);
}

static void test_many(void)
{
    enum { MANY = 20000 };
    struct vocab *v = vocab_new();
    struct text t = {0};
    bool same = true;
    for (uint32_t i = 0; i < MANY; i++) {
        text_clear(&t);
        text_printf(&t, "value %u", i * 7);
        same &= vocab_add(v, t.data, t.length) == i;
    }
    for (uint32_t i = 0; i < MANY; i++) {
        text_clear(&t);
        text_printf(&t, "value %u", i * 7);
        same &= vocab_find(v, t.data, t.length) == i;
    }
    ok(same, "many values are told apart");
    is_int(vocab_count(v), MANY, "and counted");
    text_free(&t);
    vocab_free(v);
}

static void check_sort(const char *name, const char *const *texts, size_t count, const char *want)
{
    uint32_t order[16];
    struct vocab *v = vocab_of(texts, count);
    vocab_sort(v, order);
    is_string(listed(v), want, name);
    bool same = true;
    for (size_t i = 0; i < count; i++)
        same &= strcmp(vocab_text(v, order[i], NULL), texts[i]) == 0 &&
                vocab_find(v, texts[i], strlen(texts[i])) == order[i];
    ok(same, "%s: order and search agree", name);
    vocab_free(v);
}

static uint32_t same_number(const char *const *texts)
{
    struct vocab *v = vocab_new();
    for (size_t i = 0; texts[i]; i++)
        vocab_add(v, texts[i], strlen(texts[i]));
    uint32_t found = vocab_same_number(v);
    vocab_free(v);
    return found;
}

static void test_same_number(void)
{
    is_int(same_number((const char *const[]){"0", "1", "1.0", NULL}), 2, "1 and 1.0");
    is_int(same_number((const char *const[]){"01", "1", NULL}), 1, "01 and 1");
    is_int(same_number((const char *const[]){"+1", "1", NULL}), 1, "+1 and 1");
    is_int(same_number((const char *const[]){"1", "0", NULL}), UINT32_MAX, "in any order");
    is_int(same_number((const char *const[]){"1", "1.0", "x", NULL}), UINT32_MAX, "with a word");
    is_int(same_number((const char *const[]){NULL}), UINT32_MAX, "nothing");
}

static void test_sort(void)
{
    const char *const numbers[] = {"10", "9", "-1", "1e1", "2.5"};
    check_sort("numbers as numbers, equal ones by bytes", numbers, 5, "-1|2.5|9|10|1e1");
    const char *const mixed[] = {"10", "9", "x", "-1"};
    check_sort("one text makes all of them text", mixed, 4, "-1|10|9|x");
    const char *const commas[] = {"10,5", "9,25", "3"};
    check_sort("a decimal comma is a number too", commas, 3, "3|9,25|10,5");
    const char *const bytes[] = {"b", "a", "B", "\xc3\xa4", "", "aa"};
    check_sort("texts by bytes", bytes, 6, "|B|a|aa|b|\xc3\xa4");
    const char *const blank[] = {"1", "", "02"};
    const char *const signs[] = {"+1", "-1", "+10", "2"};
    check_sort("a plus sign is no hindrance", signs, 4, "-1|+1|2|+10");
    const char *const both[] = {"+-1", "-1", "+", "0"};
    check_sort("two signs are none", both, 4, "+|+-1|-1|0");
    check_sort("an empty text is no number", blank, 3, "|02|1");
    check_sort("nothing to sort", NULL, 0, "");
}

int main(void)
{
    test_find();
    test_many();
    test_sort();
    test_same_number();
    return done();
}
