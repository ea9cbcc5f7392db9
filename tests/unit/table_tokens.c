/* table_tokens.c - tokens of texts: words, scripts, lower case, bytes that are no UTF-8, slots. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "table/tokens.h"
#include "tap.h"

static void is_tokens(struct terms *t, const char *text, const char *want, const char *name)
{
    struct text got = {0};
    size_t count = tokens_cut(t, text, strlen(text));
    for (size_t i = 0; i < count; i++) {
        text_put(&got, i ? "|" : "");
        text_add(&got, t->bytes + t->starts[i], t->starts[i + 1] - t->starts[i]);
    }
    is_string(got.data ? got.data : "", want, name);
    text_free(&got);
}

static void cuts(struct terms *t)
{
    is_tokens(t, "", "", "an empty text");
    is_tokens(t, " \t\n", "", "blanks alone");
    is_tokens(t, "One, two--3!", "one|,|two|-|-|3|!", "words, and signs one by one");
    is_tokens(t, "ÀÉ ÇÞ Ž Ł Ă ß×", "àé|çþ|ž|ł|ă|ß|×", "Latin in lower case");
    is_tokens(t, "ΑΩ ПРИВЕТ Ё",
              "αω|привет|ё", "Greek and Cyrillic in lower case");
    is_tokens(t, "İIŸ", "İiŸ", "what has no lower case of its size stays");
    is_tokens(t, "日本 カナabc",
              "日|本|カ|ナ|abc", "characters without blanks between words");
    is_tokens(t, "ไทย", "ไ|ท|ย", "Thai too");
    is_tokens(t, "한국 नमस्ते",
              "한국|नमस्ते", "scripts with blanks make words");
    is_tokens(t, "«a»\xc2\xa0“b”…",
              "«|a|»|“|b|”|…", "quotation marks, a hard blank");
    is_tokens(t, "ok😀😀", "ok|😀|😀", "pictures");
    is_tokens(t, "a\xff" "b \xc3", "a\xff" "b|\xc3", "bytes that are no UTF-8 are letters");
    is_tokens(t, "\xc0\xaf \xe2\x82", "\xc0\xaf|\xe2\x82", "nor are long forms and cut ones");
}

static void slots(struct terms *t)
{
    struct vocab *v = vocab_new();
    vocab_add(v, "the", 3);
    vocab_add(v, "end", 3);
    is_int(tokens_make(t, v, "The END of The", 14, 8), 4, "the number of tokens");
    const int32_t want[] = {2, 3, 1, 2};
    ok(t->count == 4 && memcmp(t->items, want, sizeof want) == 0, "slots, 1 of an unknown one");
    is_int(tokens_make(t, v, "the the the end", 15, 3), 4, "all tokens are counted");
    is_int(t->count, 3, "a limit");
    is_int(tokens_make(t, v, "", 0, 3), 0, "none");
    is_int(t->count, 0, "no slot");
    vocab_free(v);
}

int main(void)
{
    struct terms t = {0};
    cuts(&t);
    slots(&t);
    terms_free(&t);
    return done();
}
