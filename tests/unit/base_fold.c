/* base_fold.c - words without case, with and without accents; blanks. */
#include <string.h>

#include "base/unicode.h"
#include "base/mem.h"
#include "tap.h"

static void folds(const char *text, const char *want, const char *plain)
{
    char *accents = text_fold(text, false), *none = text_fold(text, true);
    ok(strcmp(accents, want) == 0, "%s in small letters: %s", text, accents);
    ok(strcmp(none, plain) == 0, "%s without accents: %s", text, none);
    mem_free(accents);
    mem_free(none);
}

int main(void)
{
    folds("", "", "");
    folds(" \tYes ", "yes", "yes");
    folds("A b", "a b", "a b");
    folds("SÍ", "sí", "si");
    folds("ÀÉÎÕÜ×ÞÑ", "àéîõü×þñ", "aeiou×þn");
    folds("ŁÓDŹ ŽĹŇ", "łódź žĺň", "lodz zln");
    folds("HAYIR İyi ağır", "hayir i̇yi ağır", "hayir iyi agir");
    folds("ĐÚNG Không ƠƯ Ệ", "đúng không ơư ệ", "dung khong ou e");
    folds("Ÿ", "ÿ", "y");
    folds("ДА Ёж Ґ Ќ", "да ёж ґ ќ", "да ёж ґ ќ");
    folds("ΌΧΙ Ϊ ΆΈΉΎΏ ς", "όχι ϊ άέήύώ σ", "οχι ι αεηυω σ");
    folds("e\xCC\x81", "é", "e");
    folds("是 हाँ はい", "是 हाँ はい", "是 हाँ はい");
    folds("A\xFF\xC3", "a\xFF\xC3", "a\xFF\xC3");
    folds("\xF0\x9F\x98\x80Z", "\xF0\x9F\x98\x80z", "\xF0\x9F\x98\x80z");
    folds("GROẞ groß", "gross gross", "gross gross");
    folds("ԱԲ Й", "աբ й", "աբ й");
    folds("\xC2\xA0" "a\xE3\x80\x80 \t" "b\xC2\xA0", "a b", "a b");
    folds("\xEF\xBB\xBF" "ab\xE2\x80\x8B", "ab", "ab");
    folds("a\xE2\x80\x8D\xC2\xAD" "b", "ab", "ab");
    return done();
}
