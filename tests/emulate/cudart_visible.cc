/* cudart_visible.cc - CUDA_VISIBLE_DEVICES as the driver reads it: indices or beginnings of UUIDs,
 * with commas between, in the order in which they are shown; the first that is no device ends the
 * list, and one that stands twice empties it. Not set, it hides nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cudart.h"

static const unsigned SHOWN = sizeof cudart_state::shown;

/* The device of that name, -1: none. A UUID's digits are 0 but for the last one (cudart.cc). */
static int device_of(const char *word, unsigned there)
{
    char *end, digits[48];
    long index = strtol(word, &end, 10);
    if (*word && !*end)
        return index >= 0 && (unsigned long)index < there ? (int)index : -1;
    if (strncmp(word, "GPU-", 4) != 0 || !word[4])
        return -1;
    for (unsigned i = 0; i < there; i++) {
        snprintf(digits, sizeof digits, "00000000-0000-0000-0000-0000000000%02x", i + 1);
        if (strncasecmp(digits, word + 4, strlen(word + 4)) == 0)
            return (int)i;
    }
    return -1;
}

void cudart_visible(void)
{
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    unsigned there = cudart.devices < SHOWN ? cudart.devices : SHOWN;
    char words[512], *rest = words;
    if (!list)
        return;
    snprintf(words, sizeof words, "%s", list);
    cudart.devices = 0;
    for (char *word; (word = strsep(&rest, ",")) && cudart.devices < SHOWN;) {
        int device = device_of(word, there);
        if (device < 0)
            return;
        if (memchr(cudart.shown, device + 1, cudart.devices)) {
            cudart.devices = 0;
            return;
        }
        cudart.shown[cudart.devices++] = (unsigned char)(device + 1);
    }
}
