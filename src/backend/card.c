/* card.c - see card.h. A row fits when all its words stand in the name of the device. The first row
 * that fits is used, so a more specific row comes first. */
#include "backend/card.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct row {
    const char *words;
    double copy, memory;     /* 1e9 bytes a second */
    double fp32, tf32, half; /* 1e12 operations a second */
};

static const struct row named[] = {
    {"GB200", 200, 7000, 70, 900, 1800},
    {"B200", 50, 7000, 70, 900, 1800},
    {"GH200", 200, 3400, 55, 395, 790},
    {"H200", 50, 4300, 55, 395, 790},
    {"H100 PCIe", 50, 1800, 42, 280, 560},
    {"H100 NVL", 50, 3500, 50, 350, 700},
    {"H100", 50, 2900, 55, 395, 790},
    {"H800", 50, 2900, 55, 395, 790},
    {"H20", 50, 3500, 38, 65, 130},
    {"A100 80GB", 24, 1700, 18, 125, 250},
    {"A100", 24, 1350, 18, 125, 250},
    {"A800", 24, 1700, 18, 125, 250},
    {"A30", 24, 800, 9, 65, 130},
    {"A40", 24, 600, 30, 60, 120},
    {"A10G", 24, 510, 25, 28, 56},
    {"A10", 24, 510, 25, 50, 100},
    {"A16", 24, 170, 3.8, 7, 14},
    {"A2", 12, 170, 3.8, 7, 14},
    {"L40S", 24, 740, 70, 150, 300},
    {"L40", 24, 740, 70, 75, 150},
    {"L4", 24, 260, 22, 45, 95},
    {"T4", 12, 250, 6, 0, 40},
    {"RTX PRO 6000", 50, 1500, 95, 190, 380},
    {"RTX 6000 Ada", 24, 820, 70, 150, 300},
    {"RTX A6000", 24, 660, 32, 65, 130},
    {"RTX A5000", 24, 660, 23, 46, 92},
    {"RTX 5090", 50, 1550, 85, 95, 190},
    {"RTX 5080", 50, 830, 48, 50, 100},
    {"RTX 5070", 50, 580, 26, 28, 56},
    {"RTX 4090", 24, 880, 70, 75, 150},
    {"RTX 4080", 24, 620, 42, 44, 88},
    {"RTX 4070", 24, 440, 25, 27, 54},
    {"RTX 4060", 12, 240, 13, 14, 28},
    {"RTX 3090", 24, 800, 30, 32, 64},
    {"RTX 3080", 24, 660, 25, 27, 54},
    {"RTX 3070", 24, 390, 17, 18, 36},
    {"RTX 3060", 24, 310, 10.5, 11, 22},
    {"RTX 2080", 12, 390, 9, 0, 40},
    {"RTX 2070", 12, 390, 6.5, 0, 28},
    {"RTX 2060", 12, 290, 5.5, 0, 24},
};
/* For cards known by their architecture alone: its slow cards. The last row is for a card that is
 * not known yet; it counts as a good one, so that the program opens it and learns its name. */
static const struct row built[] = {
    {"sm_75", 10, 200, 3, 0, 16},    {"sm_80", 20, 800, 9, 60, 120},
    {"sm_86", 10, 170, 3.8, 7, 14},  {"sm_89", 10, 220, 11, 12, 24},
    {"sm_90", 40, 1800, 38, 65, 130}, {"sm_100", 40, 5000, 55, 600, 1200},
    {"sm_120", 10, 300, 11, 12, 24}, {"", 20, 1500, 30, 60, 120},
};
enum { NAMED = sizeof named / sizeof *named, BUILT = sizeof built / sizeof *built };

/* True: the word stands alone in the name: "L4" not in "L40S". */
static bool stands(const char *name, const char *word, size_t length)
{
    for (const char *at = name; *at; at++) {
        bool begins = at == name || !isalnum((unsigned char)at[-1]);
        if (begins && strncmp(at, word, length) == 0 && !isalnum((unsigned char)at[length]))
            return true;
    }
    return false;
}

static bool fits(const char *name, const char *words)
{
    while (*words) {
        size_t length = strcspn(words, " ");
        if (!stands(name, words, length))
            return false;
        words += length + strspn(words + length, " ");
    }
    return true;
}

static const struct row *row_of(const char *name, const char *architecture, bool *known)
{
    *known = true;
    for (int i = 0; i < NAMED; i++)
        if (fits(name, named[i].words))
            return &named[i];
    *known = false;
    int i = 0;
    while (i < BUILT - 1 && strcmp(built[i].words, architecture) != 0)
        i++;
    return &built[i];
}

/* The part of a card that is one: MIG instances have some of seven slices ("MIG 2g.20gb"), what
 * stands in a laptop has less power. */
static double part_of(const char *name)
{
    const char *mig = strstr(name, "MIG ");
    long slices = mig ? strtol(mig + 4, NULL, 10) : 0;
    if (slices >= 1 && slices <= 7)
        return (double)slices / 7;
    return stands(name, "Laptop", 6) ? 0.5 : 1;
}

void card_find(const char *name, const char *architecture, struct card_figures *f)
{
    bool known, emulated = strcmp(architecture, "emulated") == 0;
    const struct row *r = row_of(name, architecture, &known);
    double part = emulated ? 0 : part_of(name);
    *f = (struct card_figures){.name = known ? r->words : "unknown",
                               .known = known,
                               .start_s = 0.4,
                               .launch_s = 1.5e-6,
                               .copy = emulated ? 0 : r->copy * 1e9,
                               .memory = part * r->memory * 1e9,
                               .fp32 = part * r->fp32 * 1e12,
                               .tf32 = part * r->tf32 * 1e12,
                               .half = part * r->half * 1e12};
}

double card_rate(const struct card_figures *f, const char *precision)
{
    bool half = strcmp(precision, "bf16") == 0 || strcmp(precision, "fp16") == 0;
    double rate = half ? f->half : strcmp(precision, "tf32") == 0 ? f->tf32 : 0;
    return rate > 0 ? rate : f->fp32;
}

/* The tests have cards without device files. */
extern const bool card_emulated __attribute__((weak));

bool card_present(void)
{
    /* the driver on Linux, under WSL, on a Jetson */
    static const char *const files[] = {"/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-gpu",
                                        "/dev/nvgpu/igpu0/ctrl"};
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (visible && (!*visible || strcmp(visible, "-1") == 0))
        return false;
    if (&card_emulated)
        return true;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (access(files[i], F_OK) == 0)
            return true;
    return false;
}
