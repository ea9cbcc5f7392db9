/* Of the catalogue: J01 J02 J03 J04 J09 J10 J11 J12 J17.
 * JSON: every rule of RFC 8259 accepted and refused with its place, our limits, the tree, paths,
 * writing. */
#include "tap.h"

#include <stdlib.h>

#include "base/json/json.h"
#include "base/mem.h"

static const char *const accepted[] = {
    /* section 2: any value at the top, blanks around everything; J12 a byte-order mark */
    "0",
    "-0",
    "\"\"",
    "true",
    "false",
    "null",
    "{}",
    "[]",
    " \t\r\n{ \t\r\n} \t\r\n",
    "\xef\xbb\xbf[1]",
    "[\n]",
    "{\"a\":1}",
    "{ \"a\" : 1 , \"b\" : 2 }",
    "[1,2]",
    "[ 1 , 2 ]",
    /* section 4: objects */
    "{\"\":0}",
    "{\"a\":{\"a\":{}}}",
    "{\"a\":1,\"A\":2}",
    "[{\"a\":1},{\"a\":1}]",
    "{\"a\":{\"b\":1},\"b\":2}",
    /* section 6: numbers */
    "1",
    "-1",
    "10",
    "0.5",
    "-0.5",
    "1.25",
    "1e5",
    "1E5",
    "1e+5",
    "1e-5",
    "0e0",
    "0.0e-0",
    "-0e+1",
    "1e-999",
    "1.7976931348623157e308",
    "[0,1,2]",
    "123456789012345678901234567890",
    "0.10000000000000000000000000000000000000000000000000000000000000000000000000000001",
    /* section 7: strings */
    "\"a\"",
    "\" \"",
    "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
    "\"\\u0041\\u00e9\\u20AC\"",
    "\"\\ud83d\\ude00\"",
    "\"\\uD83D\\uDE00\"",
    "\"\xc3\xa9\"",
    "\"\xf0\x9f\x98\x80\"",
    "\"\x7f\"",
    "\"\xef\xbf\xbf\"",
    "\"\xed\x9f\xbf\"",
    "\"\xf4\x8f\xbf\xbf\"",
    "\"'/\"",
};

struct refusal {
    const char *text;
    enum err_id id;
    int line, column;
    const char *what; /* a part of the sentence */
};
static const struct refusal refused[] = {
    /* J03 empty */
    {"", ERR_JSON_SYNTAX, 1, 1, "holds no value"},
    {" \n ", ERR_JSON_SYNTAX, 2, 2, "holds no value"},
    {"\xef\xbb\xbf", ERR_JSON_SYNTAX, 1, 1, "holds no value"},
    {"\xef\xbb\xbf\xef\xbb\xbf[]", ERR_JSON_SYNTAX, 1, 1, "unexpected"},
    {"\xff\xfe{", ERR_JSON_SYNTAX, 1, 1, "\\xff"},
    /* J03 cut off, J01 structure */
    {"{", ERR_JSON_SYNTAX, 1, 2, "ends inside the object opened at line 1"},
    {"[\n1,\n{\n", ERR_JSON_SYNTAX, 4, 1, "ends inside the object opened at line 3"},
    {"[", ERR_JSON_SYNTAX, 1, 2, "ends inside the list opened at line 1"},
    {"[1", ERR_JSON_SYNTAX, 1, 3, "ends inside the list"},
    {"[1,", ERR_JSON_SYNTAX, 1, 4, "ends inside the list"},
    {"{\"a\"", ERR_JSON_SYNTAX, 1, 5, "ends inside the object"},
    {"{\"a\":", ERR_JSON_SYNTAX, 1, 6, "ends inside the object"},
    {"{\"a\":1", ERR_JSON_SYNTAX, 1, 7, "ends inside the object"},
    {"{\"a\":1,", ERR_JSON_SYNTAX, 1, 8, "ends inside the object"},
    {"[1,]", ERR_JSON_SYNTAX, 1, 4, "unexpected \"]\""},
    {"[,1]", ERR_JSON_SYNTAX, 1, 2, "unexpected \",\""},
    {"[1 2]", ERR_JSON_SYNTAX, 1, 4, "unexpected \"2\""},
    {"[1}", ERR_JSON_SYNTAX, 1, 3, "unexpected \"}\""},
    {"{\"a\":1]", ERR_JSON_SYNTAX, 1, 7, "unexpected \"]\""},
    {"{\"a\":1,}", ERR_JSON_SYNTAX, 1, 8, "unexpected \"}\""},
    {"{,}", ERR_JSON_SYNTAX, 1, 2, "unexpected \",\""},
    {"{a:1}", ERR_JSON_SYNTAX, 1, 2, "unexpected \"a\""},
    {"{1:1}", ERR_JSON_SYNTAX, 1, 2, "unexpected \"1\""},
    {"{'a':1}", ERR_JSON_SYNTAX, 1, 2, "unexpected \"'\""},
    {"{\"a\" 1}", ERR_JSON_SYNTAX, 1, 6, "unexpected \"1\""},
    {"{\"a\":}", ERR_JSON_SYNTAX, 1, 6, "unexpected \"}\""},
    {"{\"a\"::1}", ERR_JSON_SYNTAX, 1, 6, "unexpected \":\""},
    {"]", ERR_JSON_SYNTAX, 1, 1, "unexpected \"]\""},
    /* J02 text behind the value */
    {"{}{}", ERR_JSON_SYNTAX, 1, 3, "after the end of the value"},
    {"[1] x", ERR_JSON_SYNTAX, 1, 5, "after the end of the value"},
    {"1\n2", ERR_JSON_SYNTAX, 2, 1, "after the end of the value"},
    {"[1]\xc2\xa0", ERR_JSON_SYNTAX, 1, 4, "after the end"},
    {"[1\f]", ERR_JSON_SYNTAX, 1, 3, "\\x0c"},
    {"\xc2\xa0[1]", ERR_JSON_SYNTAX, 1, 1, "unexpected"},
    {"// x\n1", ERR_JSON_SYNTAX, 1, 1, "unexpected \"/\""},
    {"[1, /* x */ 2]", ERR_JSON_SYNTAX, 1, 5, "unexpected \"/\""},
    {"# x", ERR_JSON_SYNTAX, 1, 1, "unexpected \"#\""},
    /* J01 words */
    {"True", ERR_JSON_SYNTAX, 1, 1, "unexpected \"T\""},
    {"tru", ERR_JSON_SYNTAX, 1, 1, "unexpected \"t\""},
    {"[nul]", ERR_JSON_SYNTAX, 1, 2, "unexpected \"n\""},
    {"truex", ERR_JSON_SYNTAX, 1, 5, "after the end"},
    {"NaN", ERR_JSON_SYNTAX, 1, 1, "unexpected \"N\""},
    {"-Infinity", ERR_JSON_SYNTAX, 1, 2, "unexpected \"I\""},
    {"undefined", ERR_JSON_SYNTAX, 1, 1, "unexpected \"u\""},
    /* J09 numbers */
    {"01", ERR_JSON_SYNTAX, 1, 2, "begin with a zero"},
    {"-01", ERR_JSON_SYNTAX, 1, 3, "begin with a zero"},
    {"00", ERR_JSON_SYNTAX, 1, 2, "begin with a zero"},
    {"+1", ERR_JSON_SYNTAX, 1, 1, "unexpected \"+\""},
    {".5", ERR_JSON_SYNTAX, 1, 1, "unexpected \".\""},
    {"[1.]", ERR_JSON_SYNTAX, 1, 4, "unexpected \"]\""},
    {"1.", ERR_JSON_SYNTAX, 1, 3, "ends too early"},
    {"[1.e5]", ERR_JSON_SYNTAX, 1, 4, "unexpected \"e\""},
    {"-", ERR_JSON_SYNTAX, 1, 2, "ends too early"},
    {"[-]", ERR_JSON_SYNTAX, 1, 3, "unexpected \"]\""},
    {"[--1]", ERR_JSON_SYNTAX, 1, 3, "unexpected \"-\""},
    {"[1e]", ERR_JSON_SYNTAX, 1, 4, "unexpected \"]\""},
    {"[1e+]", ERR_JSON_SYNTAX, 1, 5, "unexpected \"]\""},
    {"[1e1.5]", ERR_JSON_SYNTAX, 1, 5, "unexpected \".\""},
    {"[1.2.3]", ERR_JSON_SYNTAX, 1, 5, "unexpected \".\""},
    {"[0x10]", ERR_JSON_SYNTAX, 1, 3, "unexpected \"x\""},
    {"[1,5e2,1_000]", ERR_JSON_SYNTAX, 1, 9, "unexpected \"_\""},
    {"{\"a\": 1e309}", ERR_JSON_NUMBER, 1, 7, "too large"},
    {"[-1e309]", ERR_JSON_NUMBER, 1, 2, "too large"},
    {"1.7976931348623159e308", ERR_JSON_NUMBER, 1, 1, "too large"},
    /* J09 strings */
    {"\"abc", ERR_JSON_SYNTAX, 1, 5, "ends inside the string opened at line 1"},
    {"[\"abc]", ERR_JSON_SYNTAX, 1, 7, "ends inside the string"},
    {"\"\\", ERR_JSON_SYNTAX, 1, 3, "ends inside the string"},
    {"\"\\u12", ERR_JSON_SYNTAX, 1, 6, "ends inside the string"},
    {"'a'", ERR_JSON_SYNTAX, 1, 1, "unexpected \"'\""},
    {"\"\\x41\"", ERR_JSON_SYNTAX, 1, 3, "not an escape"},
    {"\"\\'\"", ERR_JSON_SYNTAX, 1, 3, "not an escape"},
    {"\"\\U0041\"", ERR_JSON_SYNTAX, 1, 3, "not an escape"},
    {"\"\\u12G4\"", ERR_JSON_SYNTAX, 1, 6, "four hexadecimal digits"},
    {"\"\\u 041\"", ERR_JSON_SYNTAX, 1, 4, "four hexadecimal digits"},
    {"\"a\tb\"", ERR_JSON_STRING, 1, 3, "control byte (0x09)"},
    {"\"a\nb\"", ERR_JSON_STRING, 1, 3, "control byte (0x0a)"},
    {"\"a\x1f\"", ERR_JSON_STRING, 1, 3, "control byte (0x1f)"},
    {"\"\\u0000\"", ERR_JSON_STRING, 1, 2, "\\u0000"},
    {"{\"a\\u0000\":1}", ERR_JSON_STRING, 1, 4, "\\u0000"},
    {"\"\\ud800\"", ERR_JSON_STRING, 1, 2, "without a second"},
    {"\"\\ud800x\"", ERR_JSON_STRING, 1, 2, "without a second"},
    {"\"\\ud800\\n\"", ERR_JSON_STRING, 1, 2, "without a second"},
    {"\"\\ud800\\ud800\"", ERR_JSON_STRING, 1, 2, "without a second"},
    {"\"\\ud800\\u0041\"", ERR_JSON_STRING, 1, 2, "without a second"},
    {"\"\\udc00\"", ERR_JSON_STRING, 1, 2, "without a first"},
    {"\"a\xff\"", ERR_JSON_STRING, 1, 3, "UTF-8"},
    {"\"\xc3\"", ERR_JSON_STRING, 1, 2, "UTF-8"},
    {"\"\xc0\x80\"", ERR_JSON_STRING, 1, 2, "UTF-8"},
    {"\"\xed\xa0\x80\"", ERR_JSON_STRING, 1, 2, "UTF-8"},
    {"\"\xf4\x90\x80\x80\"", ERR_JSON_STRING, 1, 2, "UTF-8"},
    {"\"\x80\"", ERR_JSON_STRING, 1, 2, "UTF-8"},
    {"\"\xc3\xa9\xe2\x82\"", ERR_JSON_STRING, 1, 4, "UTF-8"},
    /* J04 keys */
    {"{\"a\":1,\n\"b\":2,\n\"a\":3}", ERR_JSON_DUPLICATE, 3, 1, "line 1 and at line 3"},
    {"{\"a\":1,\"\\u0061\":3}", ERR_JSON_DUPLICATE, 1, 8, "\"a\" stands twice"},
    {"{\"\":1,\"\":3}", ERR_JSON_DUPLICATE, 1, 7, "\"\" stands twice"},
    {"{\"x\":{\"\xc3\xa9\":1,\"\\u00e9\":1}}", ERR_JSON_DUPLICATE, 1, 14, "stands twice"},
    {"{\"\xf0\x9f\x98\x80\":1,\"\\ud83d\\ude00\":1}", ERR_JSON_DUPLICATE, 1, 11, "stands twice"},
    /* line ends: CR alone, CRLF and LF each count once */
    {"[\r1,\r\n2,\n]", ERR_JSON_SYNTAX, 4, 1, "unexpected \"]\""},
};

static bool valid(const char *text, size_t length, const char *name, struct err *e)
{
    struct json_doc *doc = json_parse(text, length, name, e);
    json_free(doc);
    return doc;
}

static void grammar(void)
{
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
        struct err e = {0};
        const char *t = accepted[i];
        ok(valid(t, strlen(t), "a.json", &e), "accepted %zu", i);
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const struct refusal *r = &refused[i];
        struct err e = {0};
        bool good = valid(r->text, strlen(r->text), "a.json", &e);
        bool right = !good && e.id == r->id && e.line == r->line && e.column == r->column &&
                     strstr(e.what, r->what) && err_exit(&e) == EXIT_CONFIG;
        if (!ok(right, "refused %zu at %d:%d", i, r->line, r->column))
            printf("#   got %d at %lld:%lld: %s\n", (int)e.id, (long long)e.line,
                   (long long)e.column, e.what);
    }
    struct err e = {0};
    ok(!valid("[1]\0", 4, "a", &e) && e.column == 4, "J02 a NUL after the value is refused");
    err_clear(&e);
    ok(!valid("\"a\0b\"", 5, "a", &e) && e.id == ERR_JSON_STRING, "a NUL inside a string");
    err_clear(&e);
    ok(!valid("// x", 4, "a", &e) && strstr(e.help, "no comments"), "a comment is explained");
}

static void limits(void)
{
    struct err e = {0};
    struct text t = {0};
    for (int i = 0; i < JSON_MOST_DEPTH; i++)
        text_char(&t, '[');
    for (int i = 0; i < JSON_MOST_DEPTH; i++)
        text_char(&t, ']');
    ok(valid(t.data, t.length, "a", &e), "32 levels");
    text_clear(&t);
    for (int i = 0; i < 100000; i++)
        text_char(&t, '[');
    ok(!valid(t.data, t.length, "a", &e) && e.id == ERR_JSON_LIMIT && e.column == 33,
       "33 are too many");
    err_clear(&e);

    text_clear(&t);
    text_char(&t, '{');
    for (int i = 0; i < JSON_MOST_KEYS; i++)
        text_printf(&t, "%s\"k%d\":%d", i ? "," : "", i, i);
    text_char(&t, '}');
    struct json_doc *doc = json_parse(t.data, t.length, "a", &e);
    ok(doc && json_count(json_root(doc)) == JSON_MOST_KEYS, "J17 40,000 keys");
    if (doc) {
        int64_t v = 0;
        ok(json_integer(json_get(json_root(doc), "k39999"), &v) && v == 39999, "the last of them");
        size_t sum = 0;
        for (struct json *k = json_at(json_root(doc), 0); k; k = json_next(k))
            sum += (size_t)json_number(k);
        is_int(sum, 799980000, "all in order");
    }
    json_free(doc);
    t.data[--t.length] = '\0';
    text_put(&t, ",\"k40000\":0}");
    ok(!valid(t.data, t.length, "a", &e) && e.id == ERR_JSON_LIMIT && e.column > 100000,
       "40,001 keys");
    err_clear(&e);
    doc = json_parse_own(t.data, t.length, "a", &e);
    ok(doc && json_count(json_root(doc)) == JSON_MOST_KEYS + 1, "what dnn wrote may have them: %s",
       e.what);
    json_free(doc);
    t.data[--t.length] = '\0';
    for (int i = JSON_MOST_KEYS + 1; i <= JSON_OWN_KEYS; i++)
        text_printf(&t, ",\"k%d\":%d", i, i);
    text_char(&t, '}');
    ok(!json_parse_own(t.data, t.length, "a", &e) && e.id == ERR_JSON_LIMIT, "and not any number");
    err_clear(&e);

    text_clear(&t);
    text_char(&t, '"');
    while (t.length < JSON_MOST_BYTES - 1)
        text_char(&t, 'x');
    text_char(&t, '"');
    ok(valid(t.data, t.length, "a", &e), "1 MiB");
    text_char(&t, ' ');
    ok(!valid(t.data, t.length, "a", &e) && e.id == ERR_JSON_LIMIT, "J10 a byte more");
    err_clear(&e);

    text_clear(&t);
    text_char(&t, '[');
    while (t.length < JSON_MOST_BYTES - 3)
        text_put(&t, "0,");
    ok(!valid(t.data, t.length, "a", &e) && e.id == ERR_JSON_SYNTAX,
       "a list of half a million, cut");
    text_put(&t, "0]");
    uint64_t before = mem_in_use();
    err_clear(&e);
    doc = json_parse(t.data, t.length, "a", &e);
    ok(doc && json_count(json_root(doc)) == (t.length - 1) / 2, "and whole");
    ok(mem_in_use() - before < ((uint64_t)64 << 20), "J11 its tree stays below 64 MiB");
    json_free(doc);
    is_int(mem_in_use(), before, "nothing is left behind");
    text_free(&t);
}

static void tree(void)
{
    static const char source[] =
        "{\"a\": [10, 2.5, true, false, null],\n  \"B\": {\"x.y\": \"s\\u00e9\", \"x\": {\"y\": "
        "1}},\n"
        " \"n\": 9007199254740991, \"m\": 9007199254740993, \"h\": 0.5, \"e\": 1e3, \"z\": -0.0}";
    struct err e = {0};
    struct json_doc *doc = json_parse(source, strlen(source), "f.json", &e);
    if (!ok(doc, "parsed"))
        return;
    struct json *root = json_root(doc), *list = json_get(root, "a");
    int64_t line, column, whole = 0;
    is_string(json_name(doc), "f.json", "name");
    is_int(json_kind(root), JSON_OBJECT, "an object");
    is_int(json_count(root), 7, "seven members");
    is_int(json_count(list), 5, "five entries");
    is_int(json_kind(json_at(list, 2)), JSON_TRUE, "true");
    ok(json_true(json_at(list, 2)) && !json_true(json_at(list, 3)), "truth");
    is_int(json_kind(json_at(list, 4)), JSON_NULL, "null");
    is_int(json_kind(json_at(list, 3)), JSON_FALSE, "false, backwards");
    ok(!json_at(list, 5) && !json_next(json_at(list, 4)), "nothing behind the end");
    is_near(json_number(json_at(list, 1)), 2.5, 0, "2.5");
    ok(!json_get(root, "A") && !json_get(root, "b"), "names are taken in their exact case");
    is_string(json_key(json_at(root, 1)), "B", "key");
    is_string(json_string(json_path(root, "B.x.y")), "s\xc3\xa9",
              "a name with a dot is found first");
    is_int(json_number(json_path(root, "a.0")), 10, "an entry by path");
    ok(!json_path(root, "a.5") && !json_path(root, "a.x") && !json_path(root, "q") &&
           !json_path(root, "a.0.b") && !json_path(root, ""),
       "paths to nowhere");
    ok(json_integer(json_get(root, "n"), &whole) && whole == 9007199254740991, "2^53 - 1");
    ok(!json_integer(json_get(root, "m"), &whole), "2^53 + 1 is no integer to us");
    ok(!json_integer(json_get(root, "h"), &whole), "nor is a half");
    ok(json_integer(json_get(root, "e"), &whole) && whole == 1000, "1e3 is");
    json_place(doc, json_path(root, "B.x.y"), &line, &column);
    ok(line == 2 && column == 16, "place of a value");
    json_place_key(doc, json_path(root, "B.x.y"), &line, &column);
    ok(line == 2 && column == 9, "place of its key");
    json_place_key(doc, json_at(list, 1), &line, &column);
    ok(line == 1 && column == 12, "an entry has no key: its own place");
    ok(!json_fail(doc, json_get(root, "h"), &e, ERR_CONFIG_RANGE, "%s", "no") && e.line == 3 &&
           strcmp(e.file, "f.json") == 0,
       "json_fail names the place");
    is_string(e.key, "h", "and the key");
    err_clear(&e);
    json_fail(doc, json_get(json_get(json_get(root, "B"), "x"), "y"), &e, ERR_CONFIG_RANGE, "no");
    is_string(e.key, "B.x.y", "whole, from the root");
    err_clear(&e);
    json_fail(doc, json_at(list, 3), &e, ERR_CONFIG_RANGE, "no");
    is_string(e.key, "a.3", "entries by their number");
    json_fail(doc, list, &e, ERR_CONFIG_RANGE, "no");
    is_string(e.key, "a.3", "a second failure changes nothing");
    json_free(doc);

    static const char digits[] =
        "[0.1000000000000000055511151231257827021181583404541015625000000000000]";
    err_clear(&e);
    doc = json_parse(digits, strlen(digits), "f", &e);
    ok(doc && json_number(json_at(json_root(doc), 0)) == 0.1, "a number of 68 digits is not cut");
    json_free(doc);
}

static const char *written(struct json_doc *doc)
{
    static struct text t;
    text_clear(&t);
    json_write(&t, json_root(doc), 0);
    static char keep[1024];
    snprintf(keep, sizeof keep, "%s", t.data);
    text_free(&t);
    return keep;
}

static void setting(void)
{
    struct err e = {0};
    struct json_doc *doc = json_parse("{\"a\":[1,2],\"s\":\"x\",\"n\":null}", 28, "f", &e);
    ok(json_set(doc, "b.c.d", "true", &e), "objects are made on the way");
    ok(json_set(doc, "a.0", "{\"q\": 1.50}", &e) && json_set(doc, "a.0.q", "\"t\"", &e),
       "inside a list");
    ok(json_set(doc, "a.2", "3", &e), "one behind the end of a list");
    ok(json_set(doc, "n.k", "1", &e), "null gives way to an object");
    ok(json_set(doc, "s", "[]", &e), "another kind of value");
    is_string(written(doc),
              "{\"a\":[{\"q\":\"t\"},2,3],\"s\":[],\"n\":{\"k\":1},\"b\":{\"c\":{\"d\":true}}}",
              "what was set");
    int64_t line, column;
    json_place(doc, json_path(json_root(doc), "b.c"), &line, &column);
    ok(line == 0 && column == 0, "it has no place");
    json_remove(doc, "a.1");
    json_remove(doc, "b.c");
    json_remove(doc, "nowhere.at.all");
    is_string(written(doc), "{\"a\":[{\"q\":\"t\"},3],\"s\":[],\"n\":{\"k\":1},\"b\":{}}",
              "what was removed");
    is_int(json_number(json_at(json_path(json_root(doc), "a"), 1)), 3, "numbers move up");
    ok(!json_set(doc, "a.7", "3", &e) && e.id == ERR_CONFIG_KEY, "a gap in a list");
    err_clear(&e);
    ok(!json_set(doc, "a.1.x", "3", &e) && e.id == ERR_CONFIG_TYPE, "a key of a number");
    err_clear(&e);
    ok(!json_set(doc, "a..x", "3", &e) && e.id == ERR_CONFIG_KEY, "an empty name");
    err_clear(&e);
    ok(!json_set(doc, "a", "3 4", &e) && e.id == ERR_JSON_SYNTAX, "no JSON");
    json_free(doc);
}

static void writing(void)
{
    struct json_out o = {0};
    json_open(&o, NULL, '{');
    json_put_string(&o, "s", "a\"\\\n\x01\x7f\xc3\xa9\xff/");
    json_put_string(&o, "none", NULL);
    json_put_string_n(&o, "n", "ab\0c", 4);
    json_put_int(&o, "i", INT64_MIN);
    json_open(&o, "l", '[');
    json_put_number(&o, NULL, 0.1);
    json_put_number(&o, NULL, 100000);
    json_put_number(&o, NULL, 1e20);
    json_put_number(&o, NULL, (double)0.1f);
    json_put_number(&o, NULL, NAN);
    json_put_number(&o, NULL, 1e-5);
    json_close(&o, ']');
    json_open(&o, "o", '{');
    json_close(&o, '}');
    json_put_bool(&o, "b", true);
    json_put_raw(&o, "r", "[1]");
    json_close(&o, '}');
    is_string(o.text.data,
              "{\"s\":\"a\\\"\\\\\\n\\u0001\\u007f\xc3\xa9\xef\xbf\xbd/"
              "\",\"none\":null,\"n\":\"ab\\u0000c\","
              "\"i\":-9223372036854775808,\"l\":[0.1,100000,1e+20,0.10000000149011612,null,1e-05],"
              "\"o\":{},\"b\":true,\"r\":[1]}",
              "every kind of member");
    text_free(&o.text);

    struct err e = {0};
    struct json_doc *doc =
        json_parse("{\"a\":[1,{}],\"b\":[],\"c\":{\"d\":[1,2],\"e\":{\"f\":0}}}", 47, "f", &e);
    struct text t = {0};
    json_write(&t, json_root(doc), 2);
    is_string(t.data,
              "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": [],\n  \"c\": {\n    \"d\": [1, 2],\n"
              "    \"e\": {\"f\": 0}\n  }\n}",
              "indented");
    text_free(&t);
    json_free(doc);

    /* numbers survive: pseudo-random bit patterns, written and read back */
    uint64_t bits = 88172645463325252u;
    int bad = 0;
    for (int i = 0; i < 20000; i++) {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        double value, back = 0;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        struct json_out one = {0};
        json_put_number(&one, NULL, value);
        doc = json_parse(one.text.data, one.text.length, "f", &e);
        if (doc)
            back = json_number(json_root(doc));
        bad += memcmp(&back, &value, sizeof value) != 0;
        json_free(doc);
        text_free(&one.text);
    }
    is_int(bad, 0, "doubles are read back bit for bit");
}

int main(void)
{
    grammar();
    limits();
    tree();
    setting();
    writing();
    struct err e = {0};
    ok(!json_load("/nonexistent/x.json", &e) && err_exit(&e) == EXIT_NOINPUT, "a missing file");
    is_int(mem_in_use(), 0, "nothing is left behind");
    return done();
}
