/* infer_label.c - which label a text is: as a text, else as a number; labels of one file that are
 * equal as numbers; which of two labels is the affirmative one. */
#include "base/mem.h"
#include "infer/survey.h"
#include "table/schema/label.h"
#include "table/schema/label_list.h"
#include "tap.h"

static struct vocab *labels_of(const char *const *texts)
{
    struct vocab *v = vocab_new();
    for (; *texts; texts++)
        vocab_add(v, *texts, strlen(*texts));
    return v;
}

static void finds(const char *const *labels, const char *text, char decimal, const char *want)
{
    struct vocab *v = labels_of(labels);
    uint32_t at = label_find(v, decimal, text, strlen(text));
    const char *found = at == UINT32_MAX ? "none" : vocab_text(v, at, NULL);
    ok(strcmp(found, want) == 0, "%s among %s, %s is %s", text, labels[0], labels[1], found);
    vocab_free(v);
}

static void test_find(void)
{
    static const char *const whole[] = {"0", "1", NULL}, *const half[] = {"0.5", "1,5", NULL},
                             *const comma[] = {"0,0", "1,0", NULL},
                             *const both[] = {"1", "1.0", NULL},
                             *const words[] = {"1", "x", NULL},
                             *const large[] = {"9007199254740993", "1", NULL},
                             *const classes[] = {"1.0", "2.0", "3.0", NULL};
    static const char *const dresses[] = {"1", "1.0", "01", "+1", "1e0", "1.", "10e-1", "1.000"};
    for (size_t i = 0; i < sizeof dresses / sizeof *dresses; i++)
        finds(whole, dresses[i], '.', "1");
    finds(whole, "-0", '.', "0");
    finds(whole, "2", '.', "none");
    finds(whole, "1,0", '.', "none");
    finds(whole, "1,0", ',', "1");
    finds(whole, "yes", '.', "none");
    finds(comma, "1", '.', "1,0");
    finds(both, "1.0", '.', "1.0"); /* a model of an older version, with two classes */
    finds(both, "1.00", '.', "1");
    finds(words, "1.0", '.', "none");
    finds(half, "0.50", '.', "none"); /* no one decimal sign reads the labels */
    finds(large, "9007199254740992", '.', "none");
    finds(classes, "2", '.', "2.0");
}

/* want: what each label becomes. */
static void joins(const char *const *labels, const uint64_t *rows, const char *const *want)
{
    struct vocab *v = labels_of(labels);
    uint32_t as[8], joined = label_join(v, rows, as), others = 0;
    for (uint32_t i = 0; labels[i]; i++) {
        ok(strcmp(labels[as[i]], want[i]) == 0, "%s becomes %s", labels[i], labels[as[i]]);
        others += as[i] != i;
    }
    is_int(joined, others, "joined labels");
    vocab_free(v);
}

static void test_join(void)
{
    static const char *const mixed[] = {"1", "0.0", "1.0", "0", NULL},
                             *const more[] = {"1.0", "0.0", "1.0", "0.0"},
                             *const first[] = {"1", "0.0", "1", "0.0"},
                             *const versions[] = {"1.1", "1.10", "2", NULL},
                             *const words[] = {"1", "1.0", "x", NULL};
    static const uint64_t rows[] = {3, 6, 4, 5}, one_file[] = {5, 5, 5}, other_file[] = {5, 0, 5};
    static const char *const joined[] = {"1.1", "1.1", "2"};
    joins(mixed, rows, more);
    joins(mixed, NULL, first);
    joins(versions, one_file, versions);
    joins(versions, other_file, joined);
    joins(words, rows, words);
}

static const char *affirmative(const char *one, const char *other)
{
    int at = infer_affirmative(one, other);
    ok(infer_affirmative(other, one) == (at < 0 ? at : !at), "%s, %s: in either order", one, other);
    return at < 0 ? "none" : at ? other : one;
}

static void test_affirmative(void)
{
    static const char *const known[][2] = {
        {"0", "1"},           {"0.0", "1.0"},         {"00", "01"},        {"0", "+1"},
        {"0e0", "1e0"},       {"0.", "1."},           {"-1", "1"},         {"-1.0", "+1.0"},
        {"0,0", "1,0"},       {"No", "YES"},          {"否", "是"},
        {"नहीं", "हाँ"},  {"NO", "SÍ"},
        {"Non", "Oui"},       {"لا", "نعم"},
        {"না", "হ্যাঁ"},  {"NÃO", "Sim"},
        {"НЕТ", "Да"},        {"نہیں", "ہاں"},
        {"Tidak", "Ya"},      {"NEIN", "Ja"},         {"いいえ", "はい"},
        {"HAYIR", "Evet"},    {"Hayır", "EVET"},      {"아니오", "예"},
        {"KHÔNG", "Có"},      {"NIE", "Tak"},         {"Nee", "Ja"},
        {"خیر", "بله"},       {"ΌΧΙ", "ΝΑΙ"},
        {"Loss", "Win"},      {"rejected", "APPROVED"}, {"Inactive", "active"},
        {"ham", "spam"},      {"not churned", "churned"}, {"Non-Fraud", "fraud"},
        {"no_event", "event"}, {"未流失", "流失"},    {"nonspam", "spam"},
        {" no ", "yes"}};
    static const char *const unknown[][2] = {{"1", "2"}, {"good", "bad"}, {"a", "b"},
                                             {"alive", "dead"}, {"0", "2"}, {"1", "1.0"},
                                             {"note", "e"}, {"low", "high"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        is_string(affirmative(known[i][0], known[i][1]), known[i][1], known[i][1]);
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        is_string(affirmative(unknown[i][0], unknown[i][1]), "none", unknown[i][0]);
}

/* The table itself: each pair is found, whatever stands above it. */
static void test_table(void)
{
    static const char *const pairs[][2] = {
#define PAIR(other, affirmative) {other, affirmative},
#include "table/schema/label_pairs.def"
#undef PAIR
    };
    const char *wrong = "";
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (infer_affirmative(pairs[i][0], pairs[i][1]) != 1 ||
            infer_affirmative(pairs[i][1], pairs[i][0]) != 0)
            wrong = pairs[i][1];
    is_string(wrong, "", "every pair of the table, both ways");
}

/* --- labels that are lists --- */

static void lists(bool want, const char *const *labels)
{
    struct vocab *v = labels_of(labels);
    struct text told = {0};
    bool found = label_list_tell(v, "y", &told);
    ok(found == want && (told.length > 0) == want, "%s, %s, .. are %slists", labels[0], labels[1],
       found ? "" : "no ");
    text_free(&told);
    vocab_free(v);
}
#define LISTS(want, ...) lists(want, (const char *const[]){__VA_ARGS__, NULL})

static void test_lists(void)
{
    LISTS(true, "a|b", "a", "b");
    LISTS(true, "a|b", "a");
    LISTS(true, "c", "b", "a;b");
    LISTS(true, "a|b", "b|a");
    LISTS(true, "a|b", "b|c", "c|a");
    LISTS(true, "a|b", "b|c", "c");
    LISTS(true, "['a', 'b']", "['a']");
    LISTS(true, "['a', 'b']", "['c']");
    LISTS(true, "[\"a\"]", "[]", "[\"b\", \"c\"]");
    LISTS(true, "['a,b', 'c']", "[]");
    LISTS(false, "a|b", "c");
    LISTS(false, "A|B test", "A");
    LISTS(false, "and/or", "or", "and then");
    LISTS(false, "Food|Fruit", "Food|Meat", "Toys|Lego");
    LISTS(false, "a, b", "a");
    LISTS(false, "Boston, MA", "Austin, TX");
    LISTS(false, "[0, 10]", "[10, 20]", "[20, 30]");
    LISTS(false, "(0, 10]", "(10, 20]");
    LISTS(false, "yes", "no");
    LISTS(false, "['a']", "['b']");
    LISTS(false, "|", "||");
    LISTS(false, "a|b", "k1", "k2", "a", "k3", "k4"); /* one of six */
}

int main(void)
{
    test_find();
    test_join();
    test_affirmative();
    test_table();
    test_lists();
    return done();
}
