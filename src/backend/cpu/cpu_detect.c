/* cpu_detect.c - finds the vector code that this processor can run, and the processor's name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "base/fault.h"

static const struct vec *const tables[] = {
#ifdef VEC_X86
    &vec_avx512,
    &vec_avx2,
#endif
    &vec_c,
};

static bool runs_here(const struct vec *vec)
{
#ifdef VEC_X86
    if (vec == &vec_avx512)
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi");
    if (vec == &vec_avx2)
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
    return vec == &vec_c;
}

const struct vec *vec_find(const char *name)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (strcmp(tables[i]->name, name) == 0 && runs_here(tables[i]))
            return tables[i];
    return NULL;
}

const struct vec *vec_choose(void)
{
    const char *wanted = fault_setting("CPU");
#ifdef DNN_DOUBLE
    wanted = NULL; /* the gradient build has one only */
#endif
    if (wanted)
        return vec_find(wanted);
    for (size_t i = 0;; i++)
        if (runs_here(tables[i]))
            return tables[i];
}

/* The processor's own name, by cpuid. */
static void processor_name(char *name, size_t room)
{
    name[0] = '\0';
#if defined(__x86_64__)
    char text[49] = {0};
    uint32_t words[12];
    for (uint32_t leaf = 0; leaf < 3; leaf++)
        __asm__("cpuid"
                : "=a"(words[4 * leaf]), "=b"(words[4 * leaf + 1]), "=c"(words[4 * leaf + 2]),
                  "=d"(words[4 * leaf + 3])
                : "a"(0x80000002u + leaf), "c"(0));
    memcpy(text, words, sizeof words);
    size_t length = 0;
    for (const char *c = text; *c && length + 1 < room; c++)
        if (*c > ' ' || (*c == ' ' && length && name[length - 1] != ' '))
            name[length++] = *c;
    while (length && name[length - 1] == ' ')
        length--;
    name[length] = '\0';
#else
    snprintf(name, room, "unknown");
#endif
}

void cpu_describe(struct cpu_info *info)
{
    memset(info, 0, sizeof *info);
    const struct vec *vec = vec_choose();
    const struct blas *blas = blas_guest();
    snprintf(info->core, sizeof info->core, "%s", vec ? vec->name : "none");
    processor_name(info->model, sizeof info->model);
    snprintf(info->blas, sizeof info->blas, "%s", blas ? blas->version : "none");
    snprintf(info->blas_core, sizeof info->blas_core, "%s", blas ? blas->core : "none");
    snprintf(info->blas_reason, sizeof info->blas_reason, "%s", blas_reason());
}
