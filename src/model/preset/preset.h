/* preset.h - a preset is a fragment of config: defaults for any key, and a list of layers. Its
 * options stand beside its name in "model". To add one: a row in preset.c. */
#ifndef DNN_MODEL_PRESET_H
#define DNN_MODEL_PRESET_H

#include "base/json/opt.h"

/* Defaults of the config that differ from the tables', a JSON object. They count if neither the
 * config nor an earlier entry gives a value. when: the config says "key=word", or does not say
 * "key!=word"; several with commas: all of them; NULL: always. */
struct preset_defaults {
    const char *when, *config;
};

struct preset {
    const char *name, *summary;
    /* Into a struct of spec_size bytes. The first is "preset", a word with this name alone; the
     * last is "layers", see model.h. */
    const struct option *options;
    size_t spec_size;
    /* The hidden layers, a JSON list. "{hidden}" stands for the value of the option `hidden`, also
     * inside a longer string. Two members of an entry are for the list alone. "if": the entry is
     * left out if the value is "none", null, false, 0 or empty; "{name}=word": unless the value is
     * the word; "{name}!=word": if the value is the word. "each": NAME, with "layers": repeats
     * "layers" for each item of list NAME (bound to {NAME}), or NAME times if it is a number. */
    const char *layers;
    /* The output layer without "units", as a list; one entry stays after "if". NULL: dense. */
    const char *output;
    /* Ends with an empty one; NULL: none. */
    const struct preset_defaults *defaults;
    /* Keys that a search varies, with their values (tune.space); NULL: the keys of every
     * network. */
    const char *space;
    const char *solved_space; /* instead, if ridge solves for the weights; or NULL */
    const char *(*config_of)(const struct json_doc *doc); /* more of them; NULL: none */
    /* Replaces options "auto" by their meaning in this config; NULL: nothing to do. */
    void (*settle)(void *spec, const struct json_doc *doc);
    /* The preset that this one stands for; NULL: itself. Of sequences, the second. */
    const char *same_as, *same_as_series;
    bool series; /* it reads the steps of sequences */
    /* Options that make it small, for a look at its operations: ", \"k\": 4"; NULL: none. */
    const char *small;
};
enum linear_solver { SOLVER_AUTO, SOLVER_PATH, SOLVER_GRADIENT };
struct linear_spec { /* options of linear */
    int preset, solver; /* enum linear_solver; settled: not AUTO */
    struct opt_numbers l1;
    int64_t penalties;
    const struct json *layers;
};
enum rocket_solver { ROCKET_AUTO, ROCKET_RIDGE, ROCKET_GRADIENT };
struct rocket_preset { /* options of rocket */
    int preset, solver; /* enum rocket_solver; settled: not AUTO */
    int64_t features;
    double dropout;
    const struct json *layers;
};
/* linear: preset.settle, which makes solver "auto" path or gradient, and preset.config_of, the
 * defaults that follow. */
void linear_settle(void *spec, const struct json_doc *doc);
const char *linear_config(const struct json_doc *doc);
/* Inputs of this config that the path of linear cannot solve for: "texts" or "embeddings". NULL:
 * none. */
const char *linear_path_lacks(const struct json_doc *doc);
extern const struct preset presets[];
size_t preset_count(void);
const struct preset *preset_find(const char *name); /* NULL when unknown */
/* The preset itself, or the preset that it stands for. */
const struct preset *preset_meant(const struct preset *p, bool sequences);
/* Appends the JSON list of hidden layers for these options (spec, as opt_read filled it);
 * preset_output: the output layer, if the preset has one. */
bool preset_layers(const struct preset *p, const void *spec, struct json_out *out, struct err *e);
bool preset_output(const struct preset *p, const void *spec, struct json_out *out, struct err *e);

#endif
