#include <stdlib.h>

#include "base/process/shell.h"
#include "tap.h"

int main(void)
{
    is_string(shell_word("a.b=%d", 3), "a.b=3", "a plain word of a shell needs no quotes");
    is_string(shell_word("%s", ""), "''", "an empty word");
    is_string(shell_word("a b"), "'a b'", "a blank");
    is_string(shell_word("it's"), "'it'\\''s'", "a quote");
    is_string(shell_word("\xc3\xa4"), "'\xc3\xa4'", "letters beyond ASCII stand as they are");
    is_string(shell_word("a\nb'\\"), "$'a\\012b\\'\\\\'", "a line end");
    is_string(shell_word("\x1b[31m"), "$'\\033[31m'", "a control character");
    is_string(shell_word("\xe2\x80\xae"), "$'\\342\\200\\256'", "a mark of direction");
    is_string(shell_file("-x.csv"), "./-x.csv", "a file that looks like an option");
    is_string(shell_file("-"), "-", "standard input");
    is_string(shell_json("a\"b"), "\"a\\\"b\"", "JSON in a word");
    char big[300];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    is_string(shell_word("%s", big), "'...'", "a word that is too long is not cut");
    return done();
}
