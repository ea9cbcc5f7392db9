/* fault.h - test hooks: a test program makes any fallible call fail, and gives settings that users
 * do not have. The hooks are an object file of their own (tests/hooks/hooks.c), which the test
 * programs and build/testing/dnn link. Without it, as in build/dnn, every function here is one
 * comparison with NULL and no environment variable is read. */
#ifndef DNN_BASE_FAULT_H
#define DNN_BASE_FAULT_H

#include <stdbool.h>
#include <stddef.h>

/* PLAY: a machine is given a routine or a single operation; FETCH: it copies results back; CUDA: a
 * call of the CUDA runtime. */
enum fault_kind {
    FAULT_ALLOC, FAULT_OPEN, FAULT_READ, FAULT_WRITE, FAULT_FSYNC, FAULT_RENAME, FAULT_CLOSE,
    FAULT_UNLINK, FAULT_THREAD, FAULT_PLAY, FAULT_FETCH, FAULT_CUDA, FAULT_KINDS
};

struct fault_hooks {
    int (*fail)(enum fault_kind kind, const char *call, bool counted);
    const char *(*setting)(const char *name);
};
/* Weak: its address is NULL if no test object defines it. */
extern const struct fault_hooks fault_hooks __attribute__((weak));

/* 0: go on; else the errno (CUDA: the error number) to fail with. Thread-safe. */
static inline int fault_hit(enum fault_kind kind)
{
    return &fault_hooks ? fault_hooks.fail(kind, "", true) : 0;
}
/* As fault_hit for a call with a name; a rule for that name counts its calls alone. */
static inline int fault_hit_call(enum fault_kind kind, const char *call)
{
    return &fault_hooks ? fault_hooks.fail(kind, call, true) : 0;
}
/* As above for a call that polls: the number of polls is chance, so only rules for its name count
 * them. */
static inline int fault_hit_poll(enum fault_kind kind, const char *call)
{
    return &fault_hooks ? fault_hooks.fail(kind, call, false) : 0;
}
/* The value of a test's setting, e.g. "PATIENCE"; NULL: not set, or set to nothing. */
static inline const char *fault_setting(const char *name)
{
    return &fault_hooks ? fault_hooks.setting(name) : NULL;
}

#endif
