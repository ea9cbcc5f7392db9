/* table_tokens.c - tokens of texts: words, scripts, lower case, bytes that are no UTF-8, slots. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "table/schema/tokens.h"
#include "tap.h"

static void is_cut(struct terms *t, int rule, const char *text, const char *want,
                   const char *name)
{
    struct text got = {0};
    size_t count = tokens_cut(t, rule, text, strlen(text));
    for (size_t i = 0; i < count; i++) {
        text_put(&got, i ? "|" : "");
        text_add(&got, t->words.data + t->starts[i], t->starts[i + 1] - t->starts[i]);
    }
    is_string(got.data ? got.data : "", want, name);
    text_free(&got);
}

static void is_tokens(struct terms *t, const char *text, const char *want, const char *name)
{
    char old[100];
    snprintf(old, sizeof old, "older models: %s", name);
    is_cut(t, WORDS_BYTES, text, want, old);
}

/* The same in both rules. */
static void is_always(struct terms *t, const char *text, const char *want, const char *name)
{
    is_tokens(t, text, want, name);
    is_cut(t, WORDS_UNICODE, text, want, name);
}

static void cuts(struct terms *t)
{
    is_always(t, "", "", "an empty text");
    is_always(t, " \t\n", "", "blanks alone");
    is_always(t, "One, two--3!", "one|,|two|-|-|3|!", "words, and signs one by one");
    is_always(t, "日本 カナabc", "日|本|カ|ナ|abc",
             "characters without blanks between words");
    is_always(t, "한국 नमस्ते", "한국|नमस्ते",
             "scripts with blanks make words");
    is_always(t, "«a»\xc2\xa0“b”…", "«|a|»|“|b|”|…",
             "quotation marks, a hard blank");
    is_always(t, "ok😀😀", "ok|😀|😀", "pictures");
    is_always(t, "a\xff" "b \xc3", "a\xff" "b|\xc3", "bytes that are no UTF-8 are letters");
    is_always(t, "ÀÉ ÇÞ Ž Ł Ă", "àé|çþ|ž|ł|ă", "Latin in lower case");
}

/* What WORDS_UNICODE does better. */
static void folds(struct terms *t)
{
    const int rule = WORDS_UNICODE;
    is_cut(t, rule, "STRASSE Straße", "strasse|strasse", "capitals without a small letter");
    is_cut(t, rule, "ΣΊΣΥΦΟΣ σίσυφος", "σίσυφοσ|σίσυφοσ",
             "Greek, with accents and a last sigma");
    is_cut(t, rule, "ԱԲ Ⴀ Ꭰ 𐐀", "աբ|ⴀ|Ꭰ|𐐨",
             "Armenian, Georgian, Cherokee, Deseret");
    is_cut(t, rule, "e\xcc\x81te\xcc\x81 ÉTÉ été", "été|été|été",
             "accents apart and composed");
    is_cut(t, rule, "e\xcc\xa3\xcc\x82 e\xcc\x82\xcc\xa3", "\xe1\xbb\x87|\xe1\xbb\x87",
           "two of them, in both orders");
    is_cut(t, rule, "ไทยที่นี่", "ไ|ท|ย|ที่|นี่",
             "Thai marks stay with their letter");
    is_cut(t, rule, "co\xc2\xadop \xef\xbb\xbfx می\xe2\x80\x8cشود", "coop|x|میشود",
           "soft hyphens, marks of byte order and joiners are nothing");
    is_cut(t, rule, "a\xe2\x80\x8b" "b c\xe3\x80\x80" "d", "a|b|c|d",
             "blanks of no width and wide ones");
    is_cut(t, rule, "👍🏽 ☺\xef\xb8\x8f 👩\xe2\x80\x8d💻", "👍|🏽|☺|👩|💻",
             "pictures in a dress");
    is_cut(t, rule, "x₂ ½ ٣٤ 5€ §", "x₂|½|٣٤|5|€|§", "numbers and signs");
    is_cut(t, rule, "\xcc\x81 a", "a", "a mark alone");
}

static void old_cuts(struct terms *t)
{
    is_tokens(t, "ÀÉ ÇÞ Ž Ł Ă ß×", "àé|çþ|ž|ł|ă|ß|×", "Latin in lower case");
    is_tokens(t, "ΑΩ ПРИВЕТ Ё",
              "αω|привет|ё", "Greek and Cyrillic in lower case");
    is_tokens(t, "İIŸ", "İiŸ", "what has no lower case of its size stays");
    is_tokens(t, "ไทย", "ไ|ท|ย", "Thai too");
    is_tokens(t, "\xc0\xaf \xe2\x82", "\xc0\xaf|\xe2\x82", "nor are long forms and cut ones");
}

static void slots(struct terms *t)
{
    struct vocab *v = vocab_new();
    vocab_add(v, "the", 3);
    vocab_add(v, "end", 3);
    is_int(tokens_make(t, WORDS_UNICODE, v, "The END of The", 14, 8), 4, "the number of tokens");
    const int32_t want[] = {2, 3, 1, 2};
    ok(t->count == 4 && memcmp(t->items, want, sizeof want) == 0, "slots, 1 of an unknown one");
    is_int(tokens_make(t, WORDS_UNICODE, v, "the the the end", 15, 3), 4, "all tokens are counted");
    is_int(t->count, 3, "a limit");
    is_int(tokens_make(t, WORDS_UNICODE, v, "", 0, 3), 0, "none");
    is_int(t->count, 0, "no slot");
    vocab_free(v);
}

int main(void)
{
    struct terms t = {0};
    cuts(&t);
    folds(&t);
    old_cuts(&t);
    slots(&t);
    terms_free(&t);
    return done();
}
