/* backend_word.c - the words for the machine that computes: in configs, variables and --backend, in
 * any case of letters; and the card that a command line names. */
#include <string.h>

#include "backend/backend.h"
#include "base/text.h"
#include "config/backend_settings.h"
#include "config/variable.h"

/* The meanings of backend_option_words. A config's words come first, and of these the three of enum
 * backend_word in its order. */
static const enum backend_word meanings[] = {BACKEND_AUTO, BACKEND_GPU, BACKEND_CPU,
                                             BACKEND_CPU,  BACKEND_CPU, BACKEND_GPU};
#define OF_CONFIG "auto", "dnn_gpu", "dnn_cpu", "dnn"
const char *const backend_names[] = {OF_CONFIG, NULL};
const char *const backend_option_words[] = {OF_CONFIG, "cpu", "cuda", "mps", "rocm", NULL};
enum { OPTION_MEANINGS = 6 }; /* mps and rocm are kinds of GPU: backend_kind */

const char *backend_word(const char *text, bool option)
{
    const char *const *words = option ? backend_option_words : backend_names;
    for (size_t i = 0; words[i] && i < OPTION_MEANINGS; i++)
        if (text_same(text, words[i]))
            return backend_names[meanings[i]];
    bool card = option && card_named(text) && *card_number(text) &&
                !card_number(text)[strspn(card_number(text), "0123456789")];
    return card ? backend_names[BACKEND_GPU] : NULL;
}

const char *backend_kind(const char *text)
{
    static const char *const kinds[] = {"auto", "cuda", "rocm", "mps", "cpu"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (text_same(text, kinds[i]))
            return kinds[i];
    return NULL;
}

unsigned backend_guests(const struct backend_options *b)
{
    static const struct { const char *word; unsigned bits; } words[] = {
        {"auto", GUESTS_BY_TABLE},
        {"all", GUESTS_CUBLASLT | GUESTS_CUDNN},
        {"cublaslt", GUESTS_CUBLASLT},
        {"cudnn", GUESTS_CUDNN}};
    unsigned bits = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (opt_strings_has(&b->guests, words[i].word, strlen(words[i].word)))
            bits |= words[i].bits;
    return bits;
}

const struct overrides overrides_none = {.threads = -1, .batch_size = -1, .time_limit_s = -1};

bool card_named(const char *word)
{
    return word && strncmp(word, "cuda:", 5) == 0;
}

const char *card_number(const char *device)
{
    return card_named(device) ? device + 5 : device;
}

const char *overrides_card(const struct overrides *o)
{
    return o->device ? o->device : card_named(o->backend) ? o->backend : NULL;
}

bool overrides_one_card(const struct overrides *o)
{
    const char *card = overrides_card(o);
    if (!card)
        card = variable("GPU_DEVICE_ID");
    return card && strcmp(card, "auto") != 0;
}
