/* guest.h - optional libraries, opened by dlopen, never linked. A library serves when it has every
 * needed function and is new enough; otherwise `why` says the reason.
 *
 * A file NAME.def declares its functions, one a line, so that its headers are not needed:
 *     NEED(name, result, (arguments))  the library does not serve without it
 *     MAY(name, result, (arguments))   NULL if the library lacks it
 * GUEST_MEMBER makes a struct of function pointers from it, GUEST_SYMBOL the table. */
#ifndef DNN_BASE_GUEST_H
#define DNN_BASE_GUEST_H

#include <stdbool.h>
#include <stddef.h>

/* at: the offset of the function pointer in the struct. */
struct guest_symbol { const char *name; size_t at; bool may; };
#define GUEST_MEMBER(name, result, arguments) result (*name) arguments;
#define GUEST_SYMBOL(type, name, may) {#name, offsetof(struct type, name), may},

struct guest_library {
    const char *name;          /* "cuBLASLt" */
    const char *const *files;  /* names for dlopen, NULL-terminated; the first to serve is used */
    const struct guest_symbol *symbols;
    size_t count;
    /* 10000 * major + 100 * minor + patch; 0: unknown. NULL: the version does not matter. */
    unsigned (*version)(const void *functions);
    unsigned least;
};
struct guest {
    void *library;             /* NULL: does not serve */
    unsigned version;          /* 0: unknown */
    char file[32];             /* the name that opened; "": none did */
    char why[160];             /* why it does not serve; "": it serves */
};
/* Fills the struct of function pointers; zeroes it on failure. */
bool guest_open(struct guest *g, const struct guest_library *l, void *functions);
/* guest_open closes a library that does not serve. Never close a CUDA library that has computed: it
 * expects to stay until the end of the process. */
void guest_close(struct guest *g);
/* "13.1.0" in one of four static buffers, used in turn. */
const char *guest_version_text(unsigned version);

#endif
