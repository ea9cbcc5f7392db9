/* config_table.h - shared by the files of config: the joined table, and the list of settings.
 * Private to config*.c. */
#ifndef DNN_CONFIG_CONFIG_TABLE_H
#define DNN_CONFIG_CONFIG_TABLE_H

#include "config/config.h"

extern const struct option config_table[]; /* the whole config, into struct config */
extern const struct option backend_options_table[];
/* Keys that may only be null, NULL-terminated. */
extern const char *const config_absent[];
extern const char *const backend_job_names[JOBS]; /* of jobs.def */

/* --- settings --- */
struct setting_list {
    struct setting *items;
    size_t count;
};
/* One entry a row of the table. stored: the origin of the document's values, "config" or
 * "model". */
void settings_collect(struct setting_list *l, const struct option *table, const char *path,
                      const void *from, const struct json_doc *doc, const char *stored);
struct setting *settings_find(const struct setting *items, size_t count, const char *key);
void settings_change(struct setting_list *l, const char *key, const char *value_json,
                     const char *from);
/* A string, or an integer, of the command line or a variable, put into a field. False, E10: `from`
 * gives an integer that the key does not take. */
void settings_put_string(struct setting_list *l, const char *key, const char *from,
                         const char *value, char **field);
bool settings_put_int(struct setting_list *l, const char *key, const char *from, int64_t value,
                      int64_t *field, struct err *e);
/* A key that the list does not have (an option of a preset) is added, with its value in doc. */
void settings_from(struct setting_list *l, const struct json_doc *doc, const char *key,
                   const char *from);

/* True: rows are steps: the config has data.sequence, or a text as tokens. */
bool config_has_steps(const struct json *sequence, const struct json *columns);
/* The preset that doc names, "auto" as the one it stands for. NULL: none, or an unknown one. */
const struct preset *config_preset(const struct json_doc *doc);
/* Puts the defaults of a preset (NULL: none) into doc, for keys that doc does not set. keys: the
 * keys that were put there, with a NUL after each. */
bool config_add_preset(struct json_doc *doc, const struct preset *p, struct text *keys,
                       struct err *e);

/* The environment and the command line put over the backend section; then every job's own word is
 * set. batch: the key that --batch-size means is predict_batch_size. */
bool config_environment(struct backend_options *b, const struct overrides *o, bool batch,
                        struct setting_list *l, struct err *e);

/* config_portfolio.c: the members that preset auto stands for, if the config names it and has no
 * others, and their folds (the config's, if it has any): a pure function of the config and the
 * number of rows in its files. False: nothing is written. */
bool config_portfolio(const struct config *c, struct text *out, int *folds);

/* The path of preset linear has a solution for the loss. */
bool config_path_solves(const struct loss_options *loss);

/* --- for help --- */
/* The options of an entry of data.columns by its type; those of the other types are
 * column_plain_table. */
enum { CONFIG_COLUMNS = 4 };
extern const struct config_column {
    const char *type;
    const struct option *table;
} config_columns[CONFIG_COLUMNS];
/* "integer, 1 to 65536; default 256" */
void config_put_kind(struct text *out, const struct option *row);
/* The rows of an option of columns, "scale" or "data.columns.NAME.scale". */
bool config_column_help(const char *key, struct text *out,
                        void (*put_row)(struct text *, const char *, const struct option *));
/* The whole key nearest to one written with its dots. */
bool config_near_path(const char *key, struct text *out);
/* The help of an error about an unknown key: up to three known keys with nearly its last word. */
void config_near(struct err *e);
struct config_variable {
    const char *name, *words, *help;
};
extern const struct config_variable config_variables[]; /* name NULL ends it */
const struct config_variable *config_variable_find(const char *name);
/* Keys that have an effect beside some words of another key alone: `words` with blanks between. */
struct config_belonging {
    const char *key, *beside, *words;
};
extern const struct config_belonging config_belongings[]; /* key NULL ends it */
bool config_listed(const char *words, const char *word, size_t length); /* "sgd" in "sgd rmsprop" */

/* Puts one "path.to.key=VALUE" into doc: VALUE is read as JSON if that gives the key's type, else
 * as a string. File names are relative to the config's folder, as in the config. E10. */
bool config_set(struct json_doc *doc, const char *set, struct err *e);
/* Fills c->sets. */
void config_note_sets(struct config *c, const struct overrides *o);

/* The document of c without the defaults that its preset gave. Caller: json_free. */
struct json_doc *config_base(const struct config *c, struct err *e);
/* Takes the defaults that the preset of c gave out of doc. */
void config_drop_preset(const struct config *c, struct json_doc *doc);
/* A config of doc, which it owns, with time limit and batch size of c's command line. */
struct config *config_beside(const struct config *c, struct json_doc *doc, struct err *e);
/* True: m, a member of c's ensemble or a trial of its search, answers with as many values as c, and
 * the same quantiles; else E13. */
bool config_answers_alike(const struct config *c, const struct config *m, struct err *e);
/* Every member of the ensemble can be made. */
bool config_check_members(const struct config *c, struct err *e);
/* Checks that involve several keys. */
bool config_check(struct config *c, struct err *e);

#endif
