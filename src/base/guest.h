/* guest.h - libraries that are guests: opened while the program runs, never linked, never required.
 * All functions that are needed are found and the version is not too old, or the library does not
 * serve and the reason is kept.
 *
 * What is taken from a library stands in a file NAME.def, one line a function, with its type in our
 * words, since the library's headers need not be there:
 *     NEED(name, result, (arguments))  without it the library does not serve
 *     MAY(name, result, (arguments))   NULL where an old or small library lacks it
 * and GUEST_MEMBER makes the struct of function pointers of it, GUEST_SYMBOL the table. */
#ifndef DNN_BASE_GUEST_H
#define DNN_BASE_GUEST_H

#include <stdbool.h>
#include <stddef.h>

/* The function's place in the struct: at. */
struct guest_symbol { const char *name; size_t at; bool may; };
#define GUEST_MEMBER(name, result, arguments) result (*name) arguments;
#define GUEST_SYMBOL(type, name, may) {#name, offsetof(struct type, name), may},

struct guest_library {
    const char *name;          /* "cuBLASLt" */
    const char *const *files;  /* for the loader, NULL behind the last: the first one that serves */
    const struct guest_symbol *symbols;
    size_t count;
    /* The version of an open library as one number, 10000 * major + 100 * minor + patch; 0: it does
     * not tell. NULL: nobody asks. */
    unsigned (*version)(const void *functions);
    unsigned least;
};
struct guest {
    void *library;             /* NULL: it does not serve */
    unsigned version;          /* 0: not known */
    char file[32];             /* of the list of names; "" when none opened */
    char why[160];             /* it does not serve; "" when it does */
};
/* functions: the struct whose members the symbols are; cleared unless all is well. */
bool guest_open(struct guest *g, const struct guest_library *l, void *functions);
/* Another one behind it in the list of names, where that one is there after all and cannot do its
 * work: a newer one than the driver is made for. It stays open beside it, as it expects. False:
 * there is none, and all is as it was. */
bool guest_open_next(struct guest *g, const struct guest_library *l, void *functions);
/* What does not serve is closed by guest_open itself. A library of CUDA's that something was
 * computed with expects to stay open until the end of the process: it is not closed. */
void guest_close(struct guest *g);
/* "13.1.0", in one of four rooms used in turn. */
const char *guest_version_text(unsigned version);

#endif
