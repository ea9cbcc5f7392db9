/* man.c - build/man prints the manual page dnn.1; `make install` puts it beside the binary. */
#include <stdio.h>

#include "cli/help.h"

int main(void)
{
    struct text page = {0};
    help_man(&page);
    size_t written = fwrite(page.data, 1, page.length, stdout);
    bool whole = written == page.length && fclose(stdout) == 0;
    text_free(&page);
    return whole ? 0 : 1;
}
