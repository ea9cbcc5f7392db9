/* preset.c - the presets: auto, linear, mlp, tabm. */
#include "model/layer.h"
#include "model/preset.h"

#include <string.h>

#define LAYERS_ROW(spec)                                                                           \
    {                                                                                              \
        .key = "layers", .type = OPT_CUSTOM, .flags = OPT_NULLABLE,                                \
        .offset = offsetof(spec, layers), .standard = "null",                                      \
        .schema = "{\"type\":[\"array\",\"null\"],\"items\":{\"$ref\":\"#/$defs/layer\"}}",        \
        .help = "What the preset gives, as `check --resolved` writes it. To change the layers, "   \
                "leave the preset out."                                                            \
    }
#define PRESET_ROW(words_)                                                                         \
    {                                                                                              \
        .key = "preset", .type = OPT_WORD, .flags = OPT_REQUIRED, .offset = 0, .words = words_,    \
        .help = "The name of a ready list of layers."                                              \
    }

/* --- auto and linear have no options. A linear model bears long steps, and needs them: at a rate
 * of 0.001, 200 epochs of a few hundred rows are too few. 0.01 was compared with others on eleven
 * tables of 30 to 60,000 rows: small ones gain, large ones lose next to nothing --- */

struct plain_spec {
    int preset;
    const struct json *layers;
};

static const char *const auto_words[] = {"auto", NULL};
static const struct option auto_options[] = {PRESET_ROW(auto_words),
                                             LAYERS_ROW(struct plain_spec),
                                             {0}};
static const char *const linear_words[] = {"linear", NULL};
static const struct option linear_options[] = {PRESET_ROW(linear_words),
                                               LAYERS_ROW(struct plain_spec),
                                               {0}};

/* --- mlp. Its defaults were compared with others on nine public tabular sets of 1,000 to 60,000
 * rows: a smooth activation gains most on mixed columns, more dropout costs most where the target
 * is a smooth function of few numbers --- */

struct mlp_spec {
    int preset;
    struct opt_ints hidden;
    int activation, norm;
    double dropout;
    const struct json *layers;
};

static const char *const mlp_words[] = {"mlp", NULL};
static const char *const activation_words[] = {
#define ACT(NAME, name, ...) #name,
#include "backend/acts.def"
    NULL,
};
static const char *const norm_words[] = {"none", "batch", "layer", NULL};
static const struct option mlp_options[] = {
    PRESET_ROW(mlp_words),
    {.key = "hidden",
     .type = OPT_INTS,
     .offset = offsetof(struct mlp_spec, hidden),
     .standard = "[256, 128]",
     .low = 1,
     .high = 1 << 24,
     .help = "The widths of the hidden layers, first to last."},
    {.key = "activation",
     .type = OPT_WORD,
     .offset = offsetof(struct mlp_spec, activation),
     .standard = "\"gelu\"",
     .words = activation_words,
     .help = "The activation after every hidden layer."},
    {.key = "norm",
     .type = OPT_WORD,
     .offset = offsetof(struct mlp_spec, norm),
     .standard = "\"none\"",
     .words = norm_words,
     .help = "The norm layer between a hidden layer and its activation: none, batch_norm or "
             "layer_norm."},
    {.key = "dropout",
     .type = OPT_NUMBER,
     .flags = OPT_OPEN_HIGH,
     .offset = offsetof(struct mlp_spec, dropout),
     .standard = "0.1",
     .low = 0,
     .high = 1,
     .help = "The probability that an activation is zeroed in training."},
    LAYERS_ROW(struct mlp_spec),
    {0},
};

/* --- tabm, by Gorishniy et al., "TabM: advancing tabular deep learning with parameter-efficient
 * ensembling" (2025); the constants are those of its authors' code, with two layers --- */

struct tabm_spec {
    int preset, variant, activation;
    int64_t k;
    struct opt_ints hidden;
    double dropout;
    const struct json *layers;
};

static const char *const tabm_words[] = {"tabm", NULL};
static const char *const tabm_variants[] = {"mini", "full", NULL};
static const struct option tabm_options[] = {
    PRESET_ROW(tabm_words),
    {.key = "variant",
     .type = OPT_WORD,
     .offset = offsetof(struct tabm_spec, variant),
     .standard = "\"mini\"",
     .words = tabm_variants,
     .help = "What a network has of its own beside its output layer. mini: a scale of its inputs. "
             "full: also scales of the inputs and outputs of every layer, and biases."},
    {.key = "k",
     .type = OPT_INT,
     .offset = offsetof(struct tabm_spec, k),
     .standard = "32",
     .low = 1,
     .high = VIEWS_MOST,
     .help = "The number of networks. Each has a loss of its own; the answer is the mean of their "
             "probabilities or values."},
    {.key = "hidden",
     .type = OPT_INTS,
     .offset = offsetof(struct tabm_spec, hidden),
     .standard = "[512, 512]",
     .low = 1,
     .high = 1 << 24,
     .help = "The widths of the hidden layers, first to last."},
    {.key = "activation",
     .type = OPT_WORD,
     .offset = offsetof(struct tabm_spec, activation),
     .standard = "\"relu\"",
     .words = activation_words,
     .help = "The activation after every hidden layer."},
    {.key = "dropout",
     .type = OPT_NUMBER,
     .flags = OPT_OPEN_HIGH,
     .offset = offsetof(struct tabm_spec, dropout),
     .standard = "0.1",
     .low = 0,
     .high = 1,
     .help = "The probability that an activation is zeroed in training."},
    LAYERS_ROW(struct tabm_spec),
    {0},
};

/* --- the list --- */

const struct preset presets[] = {
    {.name = "auto",
     .summary = "The default preset: mlp.",
     .options = auto_options,
     .spec_size = sizeof(struct plain_spec),
     .same_as = "mlp"},
    {.name = "linear",
     .summary = "No hidden layer: logistic, softmax or linear regression.",
     .options = linear_options,
     .spec_size = sizeof(struct plain_spec),
     .layers = "[]",
     .config = "{\"train\": {\"optimizer\": {\"learning_rate\": 0.01}}}",
     .unless = "train.optimizer.type=sgd"}, /* its steps are as long as the gradient */
    {.name = "mlp",
     .summary = "Dense layers, each with an activation.",
     .options = mlp_options,
     .spec_size = sizeof(struct mlp_spec),
     .layers = "[{\"each\": \"hidden\", \"layers\": ["
               "{\"type\": \"dense\", \"units\": \"{hidden}\"}, "
               "{\"if\": \"{norm}\", \"type\": \"{norm}_norm\"}, "
               "{\"type\": \"{activation}\"}, "
               "{\"if\": \"{dropout}\", \"type\": \"dropout\", \"p\": \"{dropout}\"}]}]"},
    {.name = "tabm",
     .summary = "Networks that share dense layers and are trained as one, with their mean as the "
                "answer.",
     .options = tabm_options,
     .spec_size = sizeof(struct tabm_spec),
     .layers = "[{\"type\": \"views\", \"k\": \"{k}\", \"layers\": ["
               "{\"if\": \"{variant}=mini\", \"type\": \"view_scale\"}, "
               "{\"each\": \"hidden\", \"layers\": ["
               "{\"if\": \"{variant}=full\", \"type\": \"view_scale\"}, "
               "{\"if\": \"{variant}=mini\", \"type\": \"dense\", \"units\": \"{hidden}\", "
               "\"init\": \"uniform\"}, "
               "{\"if\": \"{variant}=full\", \"type\": \"dense\", \"units\": \"{hidden}\", "
               "\"init\": \"uniform\", \"bias\": false}, "
               "{\"if\": \"{variant}=full\", \"type\": \"view_scale\", \"bias\": true}, "
               "{\"type\": \"{activation}\"}, "
               "{\"if\": \"{dropout}\", \"type\": \"dropout\", \"p\": \"{dropout}\"}]}]}]",
     .config = "{\"encoders\": {\"numeric\": {\"scale\": \"quantile\"}, "
               "\"categorical\": {\"encode\": \"onehot\"}}, "
               "\"train\": {\"optimizer\": {\"type\": \"adamw\", \"learning_rate\": 0.002, "
               "\"weight_decay\": 0.0003}, \"schedule\": {\"type\": \"constant\"}, "
               "\"clip_norm\": 1, \"early_stopping\": {\"patience\": 16}}}"},
};

size_t preset_count(void)
{
    return sizeof presets / sizeof presets[0];
}

const struct preset *preset_find(const char *name)
{
    for (size_t i = 0; i < preset_count(); i++)
        if (strcmp(presets[i].name, name) == 0)
            return &presets[i];
    return NULL;
}
