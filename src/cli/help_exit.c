/* help_exit.c - the table of exit codes of `dnn help exit-codes`. */
#include <stdio.h>
#include <string.h>

#include "cli/help.h"

static const struct {
    enum exit_code code;
    const char *words;
} codes[] = {
#define EXIT_CODE(name, number, words) {EXIT_##name, words},
#include "base/exitcode.def"
#undef EXIT_CODE
};

bool help_exit(const char *word, struct text *out)
{
    bool all = strcmp(word, "exit") == 0, found = false;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", (int)codes[i].code);
        if (!all && strcmp(word, number) != 0)
            continue;
        text_printf(out, "  %3s  %s\n", number, codes[i].words);
        found = true;
    }
    return found;
}
