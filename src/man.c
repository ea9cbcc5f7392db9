/* man.c - build/man FOLDER writes the manual pages there, dnn.1 and dnn-COMMAND.1; `make install`
 * puts them beside the binary. */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/help.h"

static bool put(const char *folder, const char *dash, const char *name, struct text *page)
{
    struct text path = {0};
    text_printf(&path, "%s/dnn%s%s.1", folder, dash, name);
    FILE *out = fopen(path.data, "w");
    bool whole = out && fwrite(page->data, 1, page->length, out) == page->length;
    whole = (!out || fclose(out) == 0) && whole;
    if (!whole)
        perror(path.data);
    text_free(&path);
    text_free(page);
    return whole;
}

int main(int count, char **words)
{
    struct text page = {0};
    if (count != 2)
        return 64;
    help_man(&page);
    bool whole = put(words[1], "", "", &page);
    for (size_t i = 0; commands[i] && whole; i++) {
        help_man_command(commands[i], &page);
        whole = put(words[1], "-", commands[i]->name, &page);
    }
    return whole ? 0 : 1;
}
