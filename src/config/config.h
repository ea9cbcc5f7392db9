/* config.h - one config: the user's JSON, the overrides, the environment and the defaults, joined
 * from the option tables of the rooms. Precedence: command line, environment, config, default; the
 * origin of each value is kept. A fault in the file is E13 (78) with its place; a fault in a --set
 * or a variable is E10 (64). */
#ifndef DNN_CONFIG_CONFIG_H
#define DNN_CONFIG_CONFIG_H

#include "config/backend_settings.h"
#include "measure/calibrate.h"
#include "measure/threshold.h"
#include "model/loss.h"
#include "model/network/model.h"
#include "model/network/optim.h"
#include "model/schedule.h"
#include "table/schema/options.h"

#define TRAIN_BATCH_MOST 65536 /* rows of train.batch_size */

struct early_options {
    char *metric; /* "auto": see metric.h */
    int64_t patience, min_steps;
    double min_delta;
    int ties; /* 0: the first of equal epochs is kept, 1: the last */
};
struct checkpoint_options {
    double every_s;
    int64_t keep;
};
enum sampling { SAMPLING_NONE, SAMPLING_OVER, SAMPLING_UNDER };
struct train_options {
    int64_t epochs, batch_size, grad_accumulation;
    struct optim_options optimizer;
    struct schedule_options schedule;
    struct loss_options loss;
    int sampling; /* enum sampling */
    bool by_length;
    struct early_options early_stopping;
    double clip_norm, time_limit_s;
    uint64_t seed;
    struct checkpoint_options checkpoint;
};
enum ensemble_select { ENSEMBLE_GREEDY, ENSEMBLE_MEAN };
#define ENSEMBLE_FOLDS 100  /* at most */
#define ENSEMBLE_MEMBERS 64 /* at most */
struct ensemble_options {
    int64_t folds, rounds;
    const struct json *members; /* a list, or NULL */
    int select;                 /* enum ensemble_select */
};
struct tune_options {
    const struct json *space; /* key -> {"low", "high", "log"} or a list; NULL: the preset's own */
};
struct output_options {
    char *model, *metrics;
    bool fingerprint; /* the model remembers its training rows (table/split/fingerprint.h) */
};

struct config {
    struct json_doc *doc; /* with the --set values put in; file names unchanged */
    char *path;           /* of the config; files below are joined to its folder */
    char *text;           /* the text of the file as read; NULL: not from a file */
    size_t text_length;
    int task;             /* enum task */
    struct data_options data;
    struct model_options model; /* as the document has it */
    struct architecture *architecture;
    struct train_options train;
    struct ensemble_options ensemble;
    struct tune_options tune;
    const struct json *threshold;  /* as it stands, or NULL */
    struct threshold_rule cut;     /* the same, read */
    int calibrate;                 /* enum calibrate */
    double interval_level, set_level; /* of `intervals`, `sets`; NaN: none */
    struct backend_options backend;
    struct output_options output;
    struct setting *settings;
    size_t setting_count;
    char *unused; /* auto: keys that were given, and that its members set otherwise; NULL: none */
    struct config **members; /* [member_count], of config_member; NULL: not made yet */
    size_t member_count;
    char **sets; /* keys that a --set gave, in order */
    size_t set_count;
};

struct config *config_load(const char *path, const struct overrides *o, struct err *e);
struct config *config_parse(const char *text, size_t length, const char *name,
                            const struct overrides *o, struct err *e);
/* The same, and preset auto becomes its members, as config_load does it. */
struct config *config_parse_members(const char *text, size_t length, const char *name,
                                    const struct overrides *o, struct err *e);
void config_free(struct config *c);
/* Whether the path is named as a table is (.csv, .tsv, .txt; also with .gz), in place of a config;
 * then adds the name of a config for it, "leads.json", in the folder of the user. config: or NULL.
 */
bool config_names_table(const char *path, struct text *config);
/* The level of `intervals` or `sets`; 0: neither is given. */
double config_region(const struct config *c);
/* Several runs: the config has folds or members. */
bool config_is_ensemble(const struct config *c);
size_t config_member_count(const struct config *c); /* 1 if `members` is empty */
/* The name of member i, from 0: its own, else "member-<i>"; "base" if `members` is empty. The
 * result is valid until `room` changes. */
const char *config_member_name(const struct config *c, size_t i, char room[32]);
/* The config of member i: its keys laid over c (objects merge, lists and scalars replace). It has
 * no members of its own. NULL: E13 at the member's place in c. It belongs to c, and is made once:
 * by config_load for a list of members. */
struct config *config_member(const struct config *c, size_t i, struct err *e);
/* The config with other values, for a trial of a search: sets [count] are "path.to.key=JSON" of
 * `model`, `train` and `encoders`, and it has no ensemble. NULL: E13. Caller: config_free. */
struct config *config_trial(const struct config *c, const char *const *sets, size_t count,
                            struct err *e);
/* As above, as the text of a config file at `path`, with the ensemble of c. */
bool config_trial_text(const struct config *c, const char *const *sets, size_t count,
                       const char *path, struct text *out, struct err *e);
/* The row of a key, also of an option of the preset ("model.dropout"). NULL: unknown. */
const struct option *config_row(const struct config *c, const char *key);
/* What a search varies if preset auto is a list of networks: the preset of one network. NULL: auto
 * is no list here, or c names another preset or members of its own. */
const char *config_auto_network(const struct config *c);
/* The first key of c that asks for other labels than the likeliest ones, e.g. against imbalance:
 * class weights, sampling, focal, soft_f1. NULL: none does. For an ensemble, c's members may differ
 * (config_member). */
const char *config_leans(const struct config *c);
/* The space of keys that the preset of c gives to a search, a JSON object. */
const char *config_space(const struct config *c);
/* An E13 about a key, without a place, gets the key's place in the file. Returns false. */
bool config_placed(const struct config *c, struct err *e);
/* An error about a key that a --set gave names that --set instead of the file; if only the value is
 * wrong it becomes E10 (64). Other errors stay as they are. Returns false. */
bool config_blame(const struct config *c, struct err *e);
/* Every key with its value. With f: the model as its layers, "auto" as what it became, and what the
 * command line changed; without: the document with every default. The backend section is the
 * config's own: variables and options of one run are not part of it. `portable`: one line, without
 * what a model file must not hold (files, output, checkpoints, time limit, threads, device,
 * memory); else indented, if a reader takes that size (JSON_MOST_BYTES). Without the shares of a
 * split that knows none (column). False: with all keys it is larger than a reader takes
 * (JSON_OWN_BYTES). */
bool config_resolved(const struct config *c, const struct features *f, bool portable,
                     struct text *json, struct err *e);

/* The task that metric.h takes for the answers of this training, and the metric that orders them as
 * its loss does: logloss, rmse, mae, pinball, or loss. region: with the metrics of intervals or
 * sets. */
struct metric_type;
int config_metric_task(const struct config *c, bool region);
const struct metric_type *config_metric(const struct config *c);

#endif
