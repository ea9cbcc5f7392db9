#include "fibre.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
/* frames of fibres that are given up are forgotten with their stacks, not unwound */
extern "C" const char *__asan_default_options()
{
    return "detect_stack_use_after_return=0:detect_leaks=0:allow_user_poisoning=1";
}
#endif

enum { STACK_BYTES = 128 * 1024, GUARD_BYTES = 64 * 1024 };

static void *main_sp;

#if defined(__x86_64__)
/* fibre_switch(void **save, void *load): callee-saved registers on the stack, then the other's. */
__asm__(".text\n.globl fibre_switch\n.type fibre_switch,@function\nfibre_switch:\n"
        "pushq %rbp\n pushq %rbx\n pushq %r12\n pushq %r13\n pushq %r14\n pushq %r15\n"
        "movq %rsp, (%rdi)\n movq %rsi, %rsp\n"
        "popq %r15\n popq %r14\n popq %r13\n popq %r12\n popq %rbx\n popq %rbp\n ret\n"
        ".size fibre_switch,.-fibre_switch\n");
static void *first_frame(char *top, void (*body)(void))
{
    void **sp = (void **)(void *)top;
    *--sp = NULL;          /* body's return address: it never returns */
    *--sp = (void *)body;  /* where ret goes */
    for (int i = 0; i < 6; i++)
        *--sp = NULL;
    return sp;
}
#elif defined(__aarch64__)
__asm__(".text\n.globl fibre_switch\n.type fibre_switch,%function\nfibre_switch:\n"
        "sub sp, sp, #160\n"
        "stp x19, x20, [sp]\n stp x21, x22, [sp, #16]\n stp x23, x24, [sp, #32]\n"
        "stp x25, x26, [sp, #48]\n stp x27, x28, [sp, #64]\n stp x29, x30, [sp, #80]\n"
        "stp d8, d9, [sp, #96]\n stp d10, d11, [sp, #112]\n"
        "stp d12, d13, [sp, #128]\n stp d14, d15, [sp, #144]\n"
        "mov x9, sp\n str x9, [x0]\n mov sp, x1\n"
        "ldp x19, x20, [sp]\n ldp x21, x22, [sp, #16]\n ldp x23, x24, [sp, #32]\n"
        "ldp x25, x26, [sp, #48]\n ldp x27, x28, [sp, #64]\n ldp x29, x30, [sp, #80]\n"
        "ldp d8, d9, [sp, #96]\n ldp d10, d11, [sp, #112]\n"
        "ldp d12, d13, [sp, #128]\n ldp d14, d15, [sp, #144]\n"
        "add sp, sp, #160\n ret\n"
        ".size fibre_switch,.-fibre_switch\n");
static void *first_frame(char *top, void (*body)(void))
{
    uint64_t *sp = (uint64_t *)(void *)(top - 160);
    for (int i = 0; i < 20; i++)
        sp[i] = 0;
    sp[11] = (uint64_t)(uintptr_t)body; /* x30 */
    return sp;
}
#else
#error "the emulator switches stacks on x86-64 and aarch64"
#endif

extern "C" void fibre_switch(void **save, void *load);

void fibre_begin(struct fibre *f, void (*body)(void))
{
    if (!f->stack) {
        char *all = (char *)mmap(NULL, STACK_BYTES + GUARD_BYTES, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (all == MAP_FAILED || mprotect(all, GUARD_BYTES, PROT_NONE) != 0) {
            perror("emulator: a lane's stack");
            abort();
        }
        f->stack = all + GUARD_BYTES;
    }
#if defined(__SANITIZE_ADDRESS__)
    ASAN_UNPOISON_MEMORY_REGION(f->stack, STACK_BYTES);
#endif
    f->sp = first_frame((char *)f->stack + STACK_BYTES, body);
}

#if defined(__SANITIZE_ADDRESS__)
static const void *main_stack;
static size_t main_bytes;

/* called first thing by every body, and after every switch */
extern "C" void fibre_arrived()
{
    __sanitizer_finish_switch_fiber(NULL, &main_stack, &main_bytes);
}
#else
extern "C" void fibre_arrived() {}
#endif

void fibre_enter(struct fibre *f)
{
#if defined(__SANITIZE_ADDRESS__)
    void *fake = NULL;
    __sanitizer_start_switch_fiber(&fake, f->stack, STACK_BYTES);
    fibre_switch(&main_sp, f->sp);
    __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#else
    fibre_switch(&main_sp, f->sp);
#endif
}

void fibre_leave(struct fibre *f)
{
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(NULL, main_stack, main_bytes);
#endif
    fibre_switch(&f->sp, main_sp);
    fibre_arrived();
}

bool fibre_guard_hit(const struct fibre *f, const void *address)
{
    const char *at = (const char *)address, *stack = (const char *)f->stack;
    return stack && at >= stack - GUARD_BYTES && at < stack;
}
