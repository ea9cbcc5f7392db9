/* preset.c - the presets: auto, linear, mlp, realmlp, tabm, and the presets of sequences. */
#include "model/layer.h"
#include "model/preset/preset.h"

#include <string.h>

#define LAYERS_ROW(spec)                                                                           \
    {                                                                                              \
        .key = "layers", .type = OPT_CUSTOM, .flags = OPT_NULLABLE,                                \
        .offset = offsetof(spec, layers), .standard = "null",                                      \
        .schema = "{\"type\":[\"array\",\"null\"],\"items\":{\"$ref\":\"#/$defs/layer\"}}",        \
        .help = "What the preset gives, as `check --resolved` writes it. To change the layers, "   \
                "leave the preset out."                                                            \
    }
#define PRESET_ROW(name_)                                                                          \
    {                                                                                              \
        .key = "preset", .type = OPT_WORD, .flags = OPT_REQUIRED, .offset = 0,                     \
        .words = (const char *const[]){name_, NULL}, .help = "The name of a ready list of layers." \
    }

/* --- auto has no options --- */

struct plain_spec {
    int preset;
    const struct json *layers;
};

static const struct option auto_options[] = {PRESET_ROW("auto"),
                                             LAYERS_ROW(struct plain_spec),
                                             {0}};
/* --- linear. Its weights are solved for along a path of penalties (elastic.h), unless the config
 * asks for steps of an optimiser. Those are long: at a rate of 0.001, 200 epochs of a few hundred
 * rows are too few. 0.01 was compared with others on eleven tables of 30 to 60,000 rows: small ones
 * gain, large ones lose next to nothing --- */

static const char *const solver_words[] = {"auto", "path", "gradient", NULL};
static const struct option linear_options[] = {
    PRESET_ROW("linear"),
    {OPT_ROW(struct linear_spec, solver, OPT_WORD, "\"auto\""), .words = solver_words,
     .help = "How the weights are found. path: an elastic net is solved to convergence for "
             "penalties from large to small, and the validation rows choose one; each penalty is "
             "an epoch of the history. Fewer than 500 of them by a random split choose badly: "
             "then training rows choose, each fifth answered by the others. gradient: steps of "
             "train.optimizer, as for any network. auto is path, or gradient where the config has "
             "a train.optimizer, an embedding, a text, or a loss other than cross_entropy and "
             "mse."},
    {OPT_ROW(struct linear_spec, l1, OPT_NUMBERS, "[1.0, 0.1]"), .low = 0, .high = 1,
     .help = "Shares of the penalty that are absolute values; the rest is squares. Each has a "
             "path of its own: with 1 most weights are exactly 0, with 0 none is."},
    {OPT_ROW(struct linear_spec, penalties, OPT_INT, "25"), .low = 2, .high = 1000,
     .help = "The most penalties of a path. The first one leaves all weights at 0, the last one "
             "is a ten-thousandth of it. A path ends sooner where six in a row were no better."},
    LAYERS_ROW(struct linear_spec),
    {0},
};

/* --- mlp. Its defaults were compared with others on nine public tabular sets of 1,000 to 60,000
 * rows: a smooth activation gains most on mixed columns, more dropout costs most if the target is a
 * smooth function of few numbers --- */

struct mlp_spec {
    int preset;
    struct opt_ints hidden;
    int activation, norm;
    double dropout;
    const struct json *layers;
};

static const char *const activation_words[] = {
#define ACT(NAME, name, ...) #name,
#include "backend/acts.def"
    NULL,
};
static const char *const norm_words[] = {"none", "batch", "layer", NULL};
static const struct option mlp_options[] = {
    PRESET_ROW("mlp"),
    {OPT_ROW(struct mlp_spec, hidden, OPT_INTS, "[256, 128]"), .low = 1, .high = 1 << 24,
     .help = "The widths of the hidden layers, first to last."},
    {OPT_ROW(struct mlp_spec, activation, OPT_WORD, "\"gelu\""), .words = activation_words,
     .help = "The activation after every hidden layer."},
    {OPT_ROW(struct mlp_spec, norm, OPT_WORD, "\"none\""), .words = norm_words,
     .help = "The norm layer between a hidden layer and its activation: none, batch_norm or "
             "layer_norm."},
    {OPT_ROW(struct mlp_spec, dropout, OPT_NUMBER, "0.1"), .flags = OPT_OPEN_HIGH, .low = 0,
     .high = 1,
     .help = "The probability that an activation is zeroed in training."},
    LAYERS_ROW(struct mlp_spec),
    {0},
};

/* --- realmlp: RealMLP-TD and its short form TD-S, of D. Holzmueller, L. Grinsztajn and I.
 * Steinwart, "Better by default", 2024 (arXiv 2407.04491), with the constants of its program
 * pytabkit. The differences: missing and unknown values of a category have their own inputs, which
 * are 0 or 1 as all one-hot inputs (there: scaled and clipped as numbers, and one input of +-1
 * for two values); the initial weights are fitted to the rows of the first batch (there: to all);
 * label smoothing is 0 (there 0.1), which suits AUC and log-loss; answers are limited to the range
 * of the target by calibrate, if that helps --- */

struct realmlp_spec {
    int preset, variant;
    struct opt_ints hidden;
    int activation;
    double dropout;
    const struct json *layers, *output;
};

static const char *const variant_words[] = {"td", "td-s", NULL};
static const struct option realmlp_options[] = {
    PRESET_ROW("realmlp"),
    {OPT_ROW(struct realmlp_spec, variant, OPT_WORD, "\"td\""), .words = variant_words,
     .help = "td: the whole recipe. td-s: its short form, without blend layers, dropout, weight "
             "decay, embeddings and periodic numbers."},
    {OPT_ROW(struct realmlp_spec, hidden, OPT_INTS, "[256, 256, 256]"), .low = 1, .high = 1 << 24,
     .help = "The widths of the hidden layers, first to last."},
    {OPT_ROW(struct realmlp_spec, activation, OPT_WORD, "\"selu\""), .words = activation_words,
     .help = "The activation after every hidden layer. For regression the default is mish."},
    {OPT_ROW(struct realmlp_spec, dropout, OPT_NUMBER, "0.15"), .flags = OPT_OPEN_HIGH, .low = 0,
     .high = 1,
     .help = "The probability that an activation is zeroed in training. For td-s the default is "
             "0."},
    {OPT_ROW(struct realmlp_spec, output, OPT_CUSTOM, "null"), .flags = OPT_NULLABLE,
     .schema = "{\"type\":[\"object\",\"null\"]}",
     .help = "What the preset gives, as `check --resolved` writes it."},
    LAYERS_ROW(struct realmlp_spec),
    {0},
};

static const struct preset_defaults realmlp_defaults[] = {
    {"model.variant=td-s,task=regression",
     "{\"train\": {\"optimizer\": {\"learning_rate\": 0.07}}}"},
    {"model.variant=td-s",
     "{\"model.dropout\": 0, \"encoders\": {\"categorical\": {\"encode\": \"onehot\"}}, "
     "\"train\": {\"optimizer\": {\"weight_decay\": 0}}}"},
    {"model.variant!=td-s",
     "{\"encoders\": {\"numeric\": {\"encode\": \"periodic\"}, \"categorical\": "
     "{\"onehot_values\": 8, \"dim\": 8, \"init\": \"normal\"}}, "
     "\"train\": {\"schedule\": {\"dropout\": \"flat_cos\"}}}"},
    {"task=regression",
     "{\"model.activation\": \"mish\", \"train\": {\"optimizer\": {\"learning_rate\": 0.2}}}"},
    {"train.optimizer.type!=sgd,train.optimizer.type!=rmsprop",
     "{\"train\": {\"optimizer\": {\"type\": \"adamw\", \"betas\": [0.9, 0.95], "
     "\"epsilon\": 1e-08}}}"},
    {NULL,
     "{\"encoders\": {\"numeric\": {\"scale\": \"clip\", \"impute\": \"mean\"}}, "
     "\"train\": {\"epochs\": 256, \"batch_size\": 256, "
     "\"optimizer\": {\"learning_rate\": 0.04, \"weight_decay\": 0.02}, "
     "\"schedule\": {\"type\": \"coslog4\", \"weight_decay\": \"flat_cos\"}, "
     "\"early_stopping\": {\"patience\": 0, \"ties\": \"last\"}}}"},
    {0}};

/* --- tabm, by Gorishniy et al., "TabM: advancing tabular deep learning with parameter-efficient
 * ensembling" (2025); the constants are the authors', for two layers --- */

struct tabm_spec {
    int preset, variant, activation;
    bool share_batches;
    int64_t k, embedding;
    struct opt_ints hidden;
    double dropout;
    const struct json *layers;
};

static const char *const tabm_variants[] = {"mini", "full", NULL};
static const struct option tabm_options[] = {
    PRESET_ROW("tabm"),
    {OPT_ROW(struct tabm_spec, variant, OPT_WORD, "\"mini\""), .words = tabm_variants,
     .help = "What a network has of its own beside its output layer. mini: a scale of its inputs. "
             "full: also scales of the inputs and outputs of every layer, and biases."},
    {OPT_ROW(struct tabm_spec, k, OPT_INT, "32"), .low = 1, .high = VIEWS_MOST,
     .help = "The number of networks. Each has a loss of its own; the answer is the mean of their "
             "probabilities or values."},
    {OPT_ROW(struct tabm_spec, share_batches, OPT_BOOL, "false"),
     .help = "All networks are trained on the same rows of a step. false: each reads the training "
             "rows in an order of its own."},
    {OPT_ROW(struct tabm_spec, embedding, OPT_INT, "16"), .low = 1, .high = 1024,
     .help = "How many numbers a number with bins becomes (encoders.numeric.encode ple)."},
    {OPT_ROW(struct tabm_spec, hidden, OPT_INTS, "[512, 512]"), .low = 1, .high = 1 << 24,
     .help = "The widths of the hidden layers, first to last."},
    {OPT_ROW(struct tabm_spec, activation, OPT_WORD, "\"relu\""), .words = activation_words,
     .help = "The activation after every hidden layer."},
    {OPT_ROW(struct tabm_spec, dropout, OPT_NUMBER, "0.1"), .flags = OPT_OPEN_HIGH, .low = 0,
     .high = 1,
     .help = "The probability that an activation is zeroed in training."},
    LAYERS_ROW(struct tabm_spec),
    {0},
};

static const struct preset_defaults tabm_defaults[] = {
    {NULL,
     "{\"encoders\": {\"numeric\": {\"scale\": \"quantile\", \"encode\": [\"plain\", \"ple\"], "
     "\"bins\": 48, \"edges\": \"quantile\"}, \"categorical\": {\"encode\": \"onehot\"}}, "
     "\"train\": {\"optimizer\": {\"type\": \"adamw\", \"learning_rate\": 0.002, "
     "\"weight_decay\": 0.0003}, \"schedule\": {\"type\": \"constant\"}, "
     "\"clip_norm\": 1, \"early_stopping\": {\"patience\": 16}}}"},
    {0}};

#include "model/preset/preset_series.h"

/* --- the list --- */

const struct preset presets[] = {
    {.name = "auto",
     .summary = "An ensemble of networks and a linear model, by rows and columns; the members are "
                "in `check --resolved`. Of sequences with a label each row: gru.",
     .options = auto_options,
     .spec_size = sizeof(struct plain_spec),
     .same_as = "mlp",
     .same_as_series = "gru"},
    {.name = "linear",
     .summary = "No hidden layer: logistic, softmax or linear regression.",
     .options = linear_options,
     .space = "{\"encoders.numeric.encode\": [\"plain\", \"ple\"], "
              "\"encoders.numeric.bins\": [8, 16, 32], "
              "\"encoders.numeric.edges\": [\"quantile\", \"tree\"], "
              "\"train.loss.class_weights\": [null, \"balanced\"]}",
     .spec_size = sizeof(struct linear_spec),
     .layers = "[]",
     .config_of = linear_config,
     .settle = linear_settle},
    {.name = "mlp",
     .summary = "Dense layers, each with an activation.",
     .options = mlp_options,
     .spec_size = sizeof(struct mlp_spec),
     .space = "{\"model.hidden\": [[128], [256], [128, 64], [256, 128], [512, 256], "
              "[256, 128, 64], [512, 256, 128]], "
              "\"model.dropout\": {\"low\": 0, \"high\": 0.5}, "
              "\"model.activation\": [\"gelu\", \"relu\", \"silu\"], "
              "\"train.optimizer.learning_rate\": "
              "{\"low\": 0.0003, \"high\": 0.01, \"log\": true}, "
              "\"train.optimizer.weight_decay\": "
              "{\"low\": 0.0001, \"high\": 0.1, \"log\": true}, "
              "\"train.batch_size\": [64, 128, 256, 512], "
              "\"train.loss.class_weights\": [null, \"balanced\"], "
              "\"encoders.numeric.encode\": [\"plain\", \"ple\"]}",
     .layers = "[{\"each\": \"hidden\", \"layers\": ["
               "{\"type\": \"dense\", \"units\": \"{hidden}\"}, "
               "{\"if\": \"{norm}\", \"type\": \"{norm}_norm\"}, "
               "{\"type\": \"{activation}\"}, "
               "{\"if\": \"{dropout}\", \"type\": \"dropout\", \"p\": \"{dropout}\"}]}]"},
    {.name = "realmlp",
     .summary = "RealMLP: an mlp with one set of constants that suits most tables.",
     .options = realmlp_options,
     .spec_size = sizeof(struct realmlp_spec),
     .space = "{\"model.hidden\": [[256, 256], [256, 256, 256], [384, 384, 384], "
              "[512, 512, 512], [256, 256, 256, 256]], "
              "\"model.dropout\": {\"low\": 0, \"high\": 0.5}, "
              "\"train.optimizer.learning_rate\": "
              "{\"low\": 0.02, \"high\": 0.3, \"log\": true}, "
              "\"train.optimizer.weight_decay\": "
              "{\"low\": 0.001, \"high\": 0.05, \"log\": true}, "
              "\"train.batch_size\": [128, 256, 512]}",
     .layers = "[{\"type\": \"embed_numbers\", \"dim\": 8, \"deviation\": 0.3, \"rate\": 0.3}, "
               "{\"type\": \"scale\"}, {\"each\": \"hidden\", \"layers\": ["
               "{\"if\": \"{variant}=td\", \"type\": \"ntk_dense\", \"units\": \"{hidden}\"}, "
               "{\"if\": \"{variant}=td\", \"type\": \"blend\", "
               "\"activation\": \"{activation}\"}, "
               "{\"if\": \"{variant}=td-s\", \"type\": \"ntk_dense\", \"units\": \"{hidden}\", "
               "\"init\": \"normal\", \"bias_init\": \"normal\"}, "
               "{\"if\": \"{variant}=td-s\", \"type\": \"{activation}\"}, "
               "{\"if\": \"{dropout}\", \"type\": \"dropout\", \"p\": \"{dropout}\"}]}]",
     .output = "[{\"if\": \"{variant}=td\", \"type\": \"ntk_dense\"}, "
               "{\"if\": \"{variant}=td-s\", \"type\": \"ntk_dense\", \"init\": \"zero\", "
               "\"bias_init\": \"zero\"}]",
     .defaults = realmlp_defaults,
     .small = ", \"hidden\": [32, 32, 32]"},
    {.name = "tabm",
     .summary = "Networks that share dense layers and are trained as one, with their mean as the "
                "answer.",
     .options = tabm_options,
     .spec_size = sizeof(struct tabm_spec),
     .space = "{\"model.hidden\": [[256], [512], [256, 256], [512, 512], [768, 768], "
              "[384, 384, 384], [512, 512, 512]], "
              "\"model.dropout\": {\"low\": 0, \"high\": 0.5}, "
              "\"train.optimizer.learning_rate\": "
              "{\"low\": 0.0001, \"high\": 0.005, \"log\": true}, "
              "\"train.optimizer.weight_decay\": "
              "{\"low\": 0.0001, \"high\": 0.1, \"log\": true}, "
              "\"encoders.numeric.encode\": [\"plain\", \"ple\"]}",
     .layers = "[{\"type\": \"embed_numbers\", \"dim\": \"{embedding}\"}, "
               "{\"type\": \"views\", \"k\": \"{k}\", "
               "\"share_batches\": \"{share_batches}\", \"layers\": ["
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
     .defaults = tabm_defaults,
     .small = ", \"k\": 4, \"hidden\": [32, 32]"},
    SERIES_PRESETS,
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

const struct preset *preset_meant(const struct preset *p, bool sequences)
{
    return p->same_as ? preset_find(sequences ? p->same_as_series : p->same_as) : p;
}
