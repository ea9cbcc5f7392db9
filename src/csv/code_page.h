/* code_page.h - tells by its bytes which encoding text is likely to have, among those that are not
 * read: other code pages of one byte, and encodings of Chinese, Japanese and Korean. Only for
 * messages; nothing is decoded. */
#ifndef DNN_CSV_CODE_PAGE_H
#define DNN_CSV_CODE_PAGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

enum { CODE_PAGES_WIDE = 5 };
/* Counts of bytes from 0x80 on; zero-initialised. */
struct code_page {
    uint64_t inside[128], edge[128];  /* between two letters; with a letter on one side; any byte
                                         from 0x80 on is a letter here */
    /* bytes from 0x80 on; words of these alone; words with ASCII letters too */
    uint64_t high, pure, mixed;
    struct {
        uint64_t pairs, wrong, usual; /* usual: pairs that are among the characters of most texts */
        unsigned char lead;           /* 0: none is open */
    } wide[CODE_PAGES_WIDE];
    unsigned char before, waiting;    /* the byte before `waiting`, which waits for its successor */
    size_t word, ascii;               /* letters of the current word */
    unsigned char one;                /* its first byte from 0x80 on */
};
/* Takes the next bytes of the text. */
void code_page_count(struct code_page *p, const char *bytes, size_t length);
/* The name that iconv has for the likely encoding; *other: a second one that is nearly as likely,
 * or NULL. NULL: cp1252 (and latin1) is as likely, or nothing is known. */
const char *code_page_likely(const struct code_page *p, const char **other);
/* The command that makes UTF-8 of a file (shell_remedy). */
void code_page_remedy(const char *name, const char *other, const char *path, struct text *out);

#endif
