/* preset_series.h - the presets of sequences: lstm, which rnn is another word for, gru,
 * transformer, tcn, cnn, rocket. Included by preset.c alone. */
#ifndef DNN_MODEL_PRESET_SERIES_H
#define DNN_MODEL_PRESET_SERIES_H

static const char *const pool_words[] = {"mean", "max", "last", "attention", NULL};
static const char *const series_norms[] = {"none", "layer", NULL};
#define DROPOUT_ROW(spec, text)                                                                    \
    {                                                                                              \
        OPT_ROW(spec, dropout, OPT_NUMBER, "0.1"), .flags = OPT_OPEN_HIGH, .low = 0, .high = 1,    \
        .help = text                                                                               \
    }

/* The first steps of these networks change little: on ItalyPowerDemand (57 training series, two
 * steps an epoch) 16 epochs of patience ended four of twelve runs at the answer of a constant. */
#define FEW_STEPS "{\"train\": {\"early_stopping\": {\"min_steps\": 128}}}"

/* --- lstm and gru --- */

struct recur_spec {
    int preset;
    struct opt_ints hidden;
    bool bidirectional;
    int pool, norm;
    double dropout;
    const struct json *layers;
};

#define RECUR_ROWS                                                                                 \
    {OPT_ROW(struct recur_spec, hidden, OPT_INTS, "[64]"), .low = 1, .high = 1 << 16,              \
     .help = "The units of the recurrent layers, first to last; of each direction."},              \
    {OPT_ROW(struct recur_spec, bidirectional, OPT_BOOL, "true"),                                  \
     .help = "The layers read the steps from the last to the first as well."},                     \
    {OPT_ROW(struct recur_spec, norm, OPT_WORD, "\"none\""), .words = series_norms,                \
     .help = "layer: a layer_norm behind each recurrent layer."},                                  \
    {OPT_ROW(struct recur_spec, pool, OPT_WORD, "\"mean\""), .words = pool_words,                  \
     .help = "What becomes of the steps: their mean, the largest value of each column, the last "  \
             "step, or a mean with weights that are learned (attention)."},                        \
    DROPOUT_ROW(struct recur_spec,                                                                 \
                "The probability that a value behind a recurrent layer is zeroed in training."),   \
    LAYERS_ROW(struct recur_spec), {0}
static const struct option lstm_options[] = {PRESET_ROW("lstm"), RECUR_ROWS};
static const struct option rnn_options[] = {PRESET_ROW("rnn"), RECUR_ROWS};
static const struct option gru_options[] = {PRESET_ROW("gru"), RECUR_ROWS};
/* Tagging: few long sequences are few steps. On the data of scripts/data/make_tagging.pl, with a
 * part of the training file held out, batches of 32 stopped before lstm had learnt what to keep,
 * for one seed of three. */
static const struct preset_defaults recur_defaults[] = {
    {NULL, FEW_STEPS},
    {"task=tagging,train.optimizer.type!=sgd",
     "{\"train\": {\"batch_size\": 8, \"optimizer\": {\"learning_rate\": 0.01}}}"},
    {"train.optimizer.type!=sgd",
     "{\"train\": {\"batch_size\": 32, \"optimizer\": {\"learning_rate\": 0.003}}}"},
    {0}};
#define RECUR_PRESET(word, type, text)                                                             \
    {                                                                                              \
        .name = #word, .summary = text, .options = word##_options,                                 \
        .spec_size = sizeof(struct recur_spec),                                                    \
        .layers = "[{\"each\": \"hidden\", \"layers\": ["                                          \
                  "{\"type\": \"" type "\", \"units\": \"{hidden}\", "                             \
                  "\"bidirectional\": \"{bidirectional}\"}, "                                      \
                  "{\"if\": \"{norm}\", \"type\": \"{norm}_norm\"}, "                              \
                  "{\"if\": \"{dropout}\", \"type\": \"dropout\", \"p\": \"{dropout}\"}]}, "       \
                  "{\"type\": \"pool\", \"kind\": \"{pool}\"}]",                                   \
        .defaults = recur_defaults, .series = true,                                                \
    }

/* --- transformer: encoder blocks with the norm before each part (Xiong et al., 2020). The last
 * norm comes after the pool, and no dropout follows the last dense layer: so the pool can be
 * computed before it (struct pooled_input). It is better too. Log-loss before and now, means of
 * three seeds, 3 folds over the training files: ItalyPowerDemand .894 .602, NATOPS .215 .212,
 * JapaneseVowels .143 .097, SyntheticControl .156 .069; without a norm there: .759, .289, .240,
 * .327 --- */

struct transformer_spec {
    int preset, position, pool;
    int64_t blocks, dim, heads, feed_forward;
    bool causal;
    double dropout;
    const struct json *layers;
};

static const char *const position_words[] = {"learned", "sinusoidal", "rotary", "none", NULL};
static const char *const transformer_pools[] = {"mean", "max", "last", "attention", "cls", NULL};
static const struct option transformer_options[] = {
    PRESET_ROW("transformer"),
    {OPT_ROW(struct transformer_spec, blocks, OPT_INT, "2"), .low = 1, .high = 256,
     .help = "The number of encoder blocks: attention, then two dense layers for each step."},
    {OPT_ROW(struct transformer_spec, dim, OPT_INT, "64"), .low = 1, .high = 1 << 16,
     .help = "The width of a step in the blocks; a multiple of heads."},
    {OPT_ROW(struct transformer_spec, heads, OPT_INT, "4"), .low = 1, .high = 1024,
     .help = "The heads of attention."},
    {OPT_ROW(struct transformer_spec, feed_forward, OPT_INT, "128"), .low = 1, .high = 1 << 20,
     .help = "The width between the two dense layers of a block."},
    {OPT_ROW(struct transformer_spec, position, OPT_WORD, "\"rotary\""), .words = position_words,
     .help = "How a step knows its place: a learned vector or sines are added to it, or attention "
             "turns what it compares (rotary)."},
    {OPT_ROW(struct transformer_spec, causal, OPT_BOOL, "false"),
     .help = "A step sees none of those behind it."},
    {OPT_ROW(struct transformer_spec, pool, OPT_WORD, "\"mean\""), .words = transformer_pools,
     .help = "What becomes of the steps: their mean, the largest value of each column, the last "
             "step, a mean with weights that are learned (attention), or a class token (cls)."},
    DROPOUT_ROW(struct transformer_spec,
                "The probability that a value is zeroed in training, behind attention and between "
                "the two dense layers of a block."),
    LAYERS_ROW(struct transformer_spec),
    {0},
};
static const struct preset_defaults transformer_defaults[] = {
    {NULL, FEW_STEPS},
    {"train.optimizer.type!=sgd",
     "{\"train\": {\"batch_size\": 32, \"optimizer\": {\"learning_rate\": 0.001}, \"schedule\": "
     "{\"warmup\": 0.05}, \"clip_norm\": 1}}"},
    {0}};
#define TRANSFORMER_PRESET                                                                         \
    {                                                                                              \
        .name = "transformer",                                                                     \
        .summary = "Encoder blocks of attention over the steps of sequences.",                     \
        .options = transformer_options, .spec_size = sizeof(struct transformer_spec),              \
        .layers =                                                                                  \
            "[{\"type\": \"dense\", \"units\": \"{dim}\"}, "                                       \
            "{\"if\": \"{pool}=cls\", \"type\": \"class_token\"}, "                                \
            "{\"if\": \"{position}=learned\", \"type\": \"position\", \"kind\": \"learned\"}, "    \
            "{\"if\": \"{position}=sinusoidal\", \"type\": \"position\", "                         \
            "\"kind\": \"sinusoidal\"}, "                                                          \
            "{\"each\": \"blocks\", \"layers\": ["                                                 \
            "{\"type\": \"residual\", \"layers\": [{\"type\": \"layer_norm\"}, "                   \
            "{\"if\": \"{position}=rotary\", \"type\": \"attention\", \"heads\": \"{heads}\", "    \
            "\"causal\": \"{causal}\", \"rotary\": true}, "                                        \
            "{\"if\": \"{position}!=rotary\", \"type\": \"attention\", \"heads\": \"{heads}\", "   \
            "\"causal\": \"{causal}\"}, "                                                          \
            "{\"if\": \"{dropout}\", \"type\": \"dropout\", \"p\": \"{dropout}\"}]}, "             \
            "{\"type\": \"residual\", \"layers\": [{\"type\": \"layer_norm\"}, "                   \
            "{\"type\": \"dense\", \"units\": \"{feed_forward}\"}, {\"type\": \"gelu\"}, "         \
            "{\"if\": \"{dropout}\", \"type\": \"dropout\", \"p\": \"{dropout}\"}, "               \
            "{\"type\": \"dense\", \"units\": \"{dim}\"}]}]}, "                                    \
            "{\"type\": \"pool\", \"kind\": \"{pool}\"}, {\"type\": \"layer_norm\"}]",             \
        .defaults = transformer_defaults, .series = true,                                          \
        .small = ", \"dim\": 16, \"heads\": 2, \"feed_forward\": 16, \"blocks\": 1",               \
    }

/* --- tcn: residual blocks of dilated causal convolutions (Bai, Kolter and Koltun, 2018), with
 * layer norm in place of weight norm --- */

struct tcn_spec {
    int preset, pool;
    struct opt_ints dilations;
    int64_t channels, kernel;
    bool causal;
    double dropout;
    const struct json *layers;
};

static const struct option tcn_options[] = {
    PRESET_ROW("tcn"),
    {OPT_ROW(struct tcn_spec, dilations, OPT_INTS, "[1, 2, 4, 8]"), .low = 1, .high = 1 << 16,
     .help = "How far apart the steps are that a block's two convolutions look at; a block for "
             "each."},
    {OPT_ROW(struct tcn_spec, channels, OPT_INT, "64"), .low = 1, .high = 1 << 15,
     .help = "The width of a step in the blocks."},
    {OPT_ROW(struct tcn_spec, kernel, OPT_INT, "5"), .low = 1, .high = 1024,
     .help = "How many steps a convolution looks at."},
    {OPT_ROW(struct tcn_spec, causal, OPT_BOOL, "true"),
     .help = "A step sees itself and those before it; else as many on both sides."},
    {OPT_ROW(struct tcn_spec, pool, OPT_WORD, "\"mean\""), .words = pool_words,
     .help = "What becomes of the steps: their mean, the largest value of each column, the last "
             "step, or a mean with weights that are learned (attention)."},
    DROPOUT_ROW(struct tcn_spec,
                "The probability that a value behind a convolution is zeroed in training."),
    LAYERS_ROW(struct tcn_spec),
    {0},
};
static const struct preset_defaults tcn_defaults[] = {
    {NULL, FEW_STEPS},
    {"train.optimizer.type!=sgd",
     "{\"train\": {\"batch_size\": 32, \"optimizer\": {\"learning_rate\": 0.002}, "
     "\"clip_norm\": 1}}"},
    {0}};
#define TCN_CONV                                                                                   \
    "{\"type\": \"conv1d\", \"units\": \"{channels}\", \"kernel\": \"{kernel}\", "                 \
    "\"dilation\": \"{dilations}\", \"causal\": \"{causal}\"}, "                                   \
    "{\"type\": \"layer_norm\"}, {\"type\": \"relu\"}, "                                           \
    "{\"if\": \"{dropout}\", \"type\": \"dropout\", \"p\": \"{dropout}\"}"
#define TCN_PRESET                                                                                 \
    {                                                                                              \
        .name = "tcn",                                                                             \
        .summary = "Blocks of dilated causal convolutions over the steps of sequences.",           \
        .options = tcn_options, .spec_size = sizeof(struct tcn_spec),                              \
        .layers = "[{\"each\": \"dilations\", \"layers\": [{\"type\": \"residual\", "              \
                  "\"layers\": [" TCN_CONV ", " TCN_CONV "]}]}, "                                  \
                  "{\"type\": \"pool\", \"kind\": \"{pool}\"}]",                                   \
        .defaults = tcn_defaults, .series = true,                                                  \
        .small = ", \"channels\": 8, \"dilations\": [1, 2]",                                       \
    }

/* --- cnn: one convolution beside the step itself, and of each column the largest value (Kim,
 * 2014, with one width in place of three): it finds runs of words wherever they stand. Evidence:
 * questions of TREC, six labels, 3,708 training rows, log-loss on 654 and on 1,090 further rows
 * of the training file. 10 epochs, without the step itself: kernel 5 .411, .407; 512 channels
 * .434, .410; the rate 0.002 .415, .417; two convolutions .519, .523; smoothed labels .395,
 * .395. 20 epochs with smoothed labels .392, .401; tokens of 256 numbers .389, .410, in twice
 * the time; with the step itself .387, .396. Others, 10 epochs: gru .480, .506, transformer
 * .590, .595, tcn with the largest value .523, .505 --- */

struct cnn_spec {
    int preset, pool;
    int64_t channels, kernel;
    double input_dropout, dropout;
    const struct json *layers;
};

static const struct option cnn_options[] = {
    PRESET_ROW("cnn"),
    {OPT_ROW(struct cnn_spec, channels, OPT_INT, "256"), .low = 1, .high = 1 << 15,
     .help = "The width of a step behind the convolution."},
    {OPT_ROW(struct cnn_spec, kernel, OPT_INT, "5"), .low = 1, .high = 1024,
     .help = "How many steps the convolution looks at, as many on both sides."},
    {OPT_ROW(struct cnn_spec, pool, OPT_WORD, "\"max\""), .words = pool_words,
     .help = "What becomes of the steps: the largest value of each column, their mean, the last "
             "step, or a mean with weights that are learned (attention)."},
    {OPT_ROW(struct cnn_spec, input_dropout, OPT_NUMBER, "0.3"), .flags = OPT_OPEN_HIGH, .low = 0,
     .high = 1,
     .help = "The probability that a number of a step is zeroed in training."},
    {OPT_ROW(struct cnn_spec, dropout, OPT_NUMBER, "0.5"), .flags = OPT_OPEN_HIGH, .low = 0,
     .high = 1,
     .help = "The probability that a value behind the pool is zeroed in training."},
    LAYERS_ROW(struct cnn_spec),
    {0},
};
static const struct preset_defaults cnn_defaults[] = {
    {"task=multiclass", "{\"train\": {\"loss\": {\"label_smoothing\": 0.1}}}"},
    {"train.optimizer.type!=sgd",
     "{\"train\": {\"batch_size\": 32, \"epochs\": 20, \"optimizer\": "
     "{\"learning_rate\": 0.001}}}"},
    {0}};
#define CNN_PRESET                                                                                 \
    {                                                                                              \
        .name = "cnn", .summary = "One convolution over the steps, and what it finds most of.",    \
        .options = cnn_options, .spec_size = sizeof(struct cnn_spec),                              \
        .layers =                                                                                  \
            "[{\"if\": \"{input_dropout}\", \"type\": \"dropout\", \"p\": \"{input_dropout}\"}, "  \
            "{\"type\": \"residual\", \"layers\": [{\"type\": \"conv1d\", "                        \
            "\"units\": \"{channels}\", \"kernel\": \"{kernel}\"}, {\"type\": \"relu\"}]}, "       \
            "{\"type\": \"pool\", \"kind\": \"{pool}\"}, "                                         \
            "{\"if\": \"{dropout}\", \"type\": \"dropout\", \"p\": \"{dropout}\"}]",               \
        .defaults = cnn_defaults, .series = true, .small = ", \"channels\": 8",                    \
    }

/* --- rocket: random convolution features, and a linear layer on their deviations. Its weights are
 * solved for, as in the papers, unless the config asks for steps of an optimiser --- */

#define ROCKET_RATE 0.0001
#define ROCKET_DECAY 0.1
static const char *const rocket_solvers[] = {"auto", "ridge", "gradient", NULL};

/* True: the optimiser has a value that is not the preset's. */
static bool steps_asked(const struct json_doc *doc)
{
    const struct json *o = json_path(json_root(doc), "train.optimizer");
    bool asked = o && json_kind(o) != JSON_OBJECT;
    for (const struct json *k = o && !asked ? json_at(o, 0) : NULL; k; k = json_next(k)) {
        bool rate = strcmp(json_key(k), "learning_rate") == 0,
             decay = strcmp(json_key(k), "weight_decay") == 0;
        double standard = rate ? ROCKET_RATE : ROCKET_DECAY;
        double value = json_kind(k) == JSON_NUMBER ? json_number(k) : 0;
        asked |= !(rate || decay) || value < standard || value > standard;
    }
    return asked;
}

static void rocket_settle(void *spec, const struct json_doc *doc)
{
    struct rocket_preset *s = spec;
    const struct json *loss = json_path(json_root(doc), "train.loss.type");
    const char *word = loss && json_kind(loss) == JSON_STRING ? json_string(loss) : "auto";
    bool squares = strcmp(word, "auto") == 0 || strcmp(word, "cross_entropy") == 0 ||
                   strcmp(word, "mse") == 0;
    if (s->solver == ROCKET_AUTO)
        s->solver = squares && !steps_asked(doc) ? ROCKET_RIDGE : ROCKET_GRADIENT;
}

static const struct option rocket_options[] = {
    PRESET_ROW("rocket"),
    {OPT_ROW(struct rocket_preset, solver, OPT_WORD, "\"auto\""), .words = rocket_solvers,
     .help = "How the weights on the features are found. ridge: squared errors with a penalty, "
             "solved exactly; the penalty, and how steep probabilities are, come from answers to "
             "each training row by all others. It takes up to 8,000 rows. gradient: steps of "
             "train.optimizer, as for any network. auto is ridge, or gradient where the config "
             "has a train.optimizer or a loss other than cross_entropy and mse."},
    {OPT_ROW(struct rocket_preset, features, OPT_INT, "10000"), .low = 84, .high = 1 << 20,
     .help = "About how many random convolution features there are."},
    DROPOUT_ROW(struct rocket_preset, "The probability that a feature is zeroed in training."),
    LAYERS_ROW(struct rocket_preset),
    {0},
};
static const struct preset_defaults rocket_defaults[] = {
    {"train.optimizer.type!=sgd",
     "{\"train\": {\"batch_size\": 32, \"epochs\": 60, \"optimizer\": {\"learning_rate\": 0.0001, "
     "\"weight_decay\": 0.1}}}"},
    {0}};
#define ROCKET_PRESET                                                                              \
    {                                                                                              \
        .name = "rocket",                                                                          \
        .summary = "A linear layer on random convolution features of sequences: the baseline.",    \
        .options = rocket_options, .spec_size = sizeof(struct rocket_preset),                      \
        .layers = "[{\"type\": \"rocket\", \"features\": \"{features}\"}, "                        \
                  "{\"type\": \"batch_norm\"}, "                                                   \
                  "{\"if\": \"{dropout}\", \"type\": \"dropout\", \"p\": \"{dropout}\"}]",         \
        .defaults = rocket_defaults, .settle = rocket_settle, .series = true,                      \
        .small = ", \"features\": 84",                                                             \
        .solved_space = "{\"model.features\": {\"low\": 1000, \"high\": 20000, "                   \
                        "\"log\": true}}",                                                         \
    }

#define SERIES_PRESETS                                                                             \
    RECUR_PRESET(lstm, "lstm", "LSTM layers over the steps of sequences."),                        \
        RECUR_PRESET(rnn, "lstm", "Another word for lstm."),                                       \
        RECUR_PRESET(gru, "gru", "GRU layers over the steps of sequences."), TRANSFORMER_PRESET,   \
        TCN_PRESET, CNN_PRESET, ROCKET_PRESET

#endif
