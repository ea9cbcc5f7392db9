/* inspect.c - see inspect.h. */
#include "check/inspect.h"

#include <math.h>

#include <stdio.h>
#include <string.h>

#include "base/file/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/stop.h"
#include "base/file/tensorfile.h"
#include "config/config.h"

/* --- opening --- */

/* Eight bytes of length, then the JSON that every model begins with. */
static bool look(const char *path, bool *model, bool *config, struct err *e)
{
    static const char mark[] = "{\"__metadata__\"";
    char head[8 + sizeof mark] = {0};
    struct file f;
    size_t got = 0;
    *model = false;
    if (!file_open_regular(&f, path, e))
        return false;
    bool good = file_read(&f, head, sizeof head - 1, &got, e);
    *model = got >= 8 + sizeof mark - 1 && memcmp(head + 8, mark, sizeof mark - 1) == 0;
    size_t at = 0;
    while (at < got && strchr(" \t\r\n", head[at]))
        at++;
    *config = at < got && head[at] == '{';
    file_close(&f);
    return good;
}

bool inspect_is_data(const char *path)
{
    struct err ignored = {0};
    bool model = false, config = false;
    return strcmp(path, "-") != 0 && !text_ends(path, ".dnn") &&
           look(path, &model, &config, &ignored) && !model &&
           !(config && text_ends(path, ".json"));
}

static bool open_model(struct inspect *i, struct err *e)
{
    i->model = modelfile_load(i->path, e);
    if (!i->model || !tensor_digest(i->path, i->sha256, e))
        return false;
    i->features = mem_zero(i->model->member_count, sizeof *i->features);
    i->plans = mem_zero(i->model->member_count, sizeof *i->plans);
    for (uint32_t m = 0; m < i->model->member_count; m++) {
        i->features[m] = encoder_features(modelfile_encoder(i->model, m));
        i->plans[m] = model_plan(i->model->members[m].architecture, i->features[m], 1, 1, false, e);
        if (!i->plans[m])
            return false;
    }
    return true;
}

bool inspect_open(struct inspect *i, const char *path, struct err *e)
{
    bool model = false, config = false;
    *i = (struct inspect){.path = mem_string(path)};
    bool good = strcmp(path, "-") == 0 || look(path, &model, &config, e);
    if (good && (model || text_ends(path, ".dnn"))) {
        good = open_model(i, e);
    } else if (good && config && text_ends(path, ".json")) {
        good = err_set(e, ERR_USAGE, "%s is a config", text_quote_z(path));
        err_help(e, "`dnn check` shows what it says");
    } else if (good) {
        struct infer_request q = {
            .path = path, .encoding = -1, .header = -1, .quote = -1, .stop = stop_wanted};
        i->data = infer_file(&q, e);
        good = i->data || (e->id == ERR_NONE && stop_error("the end of the file", e));
        if (i->data && i->data->footer_note[0])
            log_warning("%s", i->data->footer_note);
    }
    if (!good)
        inspect_close(i);
    return good;
}

void inspect_close(struct inspect *i)
{
    for (uint32_t m = 0; i->plans && m < i->model->member_count; m++)
        model_free(i->plans[m]);
    mem_free(i->plans);
    for (uint32_t m = 0; i->features && m < i->model->member_count; m++)
        if (i->features[m])
            features_free(i->features[m]);
    mem_free(i->features);
    if (i->model)
        modelfile_free(i->model);
    if (i->data)
        infer_free(i->data);
    mem_free(i->path);
    *i = (struct inspect){0};
}

/* --- JSON --- */

/* One network as "model"; several as "members", with their weights. */
static void write_members(const struct inspect *i, struct json_out *out)
{
    const struct modelfile *f = i->model;
    bool one = f->member_count == 1;
    if (!one)
        json_open(out, "members", '[');
    for (uint32_t m = 0; m < f->member_count; m++) {
        json_open(out, one ? "model" : NULL, '{');
        if (!one)
            json_put_number(out, "weight", f->members[m].weight);
        model_describe(i->plans[m], out);
        json_close(out, '}');
    }
    if (!one)
        json_close(out, ']');
}

/* An end of a range; null: none. */
static void put_end(double end, struct json_out *out)
{
    if (isfinite(end))
        json_put_number(out, NULL, end);
    else
        json_put_null(out, NULL);
}

static void write_calibration(const struct calibration *c, struct json_out *out)
{
    if (!(c->scale > 0) && !c->limited)
        return;
    json_open(out, "calibration", '{');
    if (c->scale > 0) {
        json_put_number(out, "scale", c->scale);
        json_open(out, "shift", '[');
        for (uint32_t k = 0; k < c->classes; k++)
            json_put_number(out, NULL, c->shift[k]);
        json_close(out, ']');
    } else {
        json_open(out, "range", '[');
        put_end(c->low, out);
        put_end(c->high, out);
        json_close(out, ']');
    }
    json_close(out, '}');
}

static void write_conformal(const struct conformal *c, struct json_out *out)
{
    if (!c->rule)
        return;
    json_open(out, conformal_is_interval(c) ? "intervals" : "sets", '{');
    json_put_number(out, "level", c->level);
    if (conformal_is_interval(c))
        json_put_string(out, "rule", conformal_rules[c->rule]);
    json_put_number(out, "reach", c->reach);
    json_close(out, '}');
}

static void write_model(const struct inspect *i, struct json_out *out)
{
    const struct modelfile *f = i->model;
    json_put_int(out, "format", f->format);
    json_open(out, "data", '{');
    encoder_write_json(f->encoders[0], out);
    json_close(out, '}');
    write_members(i, out);
    decision_write(&f->decision, out);
    write_calibration(&f->calibration, out);
    write_conformal(&f->conformal, out);
    json_put_raw(out, "config", f->config_text);
    json_put_raw(out, "metrics", f->metrics_text);
    json_open(out, "trained_on", '{');
    plan_write(&f->plan, out);
    json_close(out, '}');
    json_put_int(out, "golden_rows", f->golden.count);
    json_open(out, "hashes", '{');
    json_put_string(out, "model_sha256", i->sha256);
    json_close(out, '}');
}

static void write_data(const struct infer *d, struct json_out *out)
{
    json_put_int(out, "rows", (int64_t)d->rows);
    infer_write_dialect(d, out);
    json_open(out, "columns", '[');
    for (size_t c = 0; c < d->count; c++) {
        const struct infer_column *column = &d->columns[c];
        json_open(out, NULL, '{');
        json_put_string(out, "name", column->name);
        json_put_string(out, "type", column_role_names[column->type]);
        json_put_int(out, "missing", (int64_t)column->missing);
        json_put_int(out, "distinct", (int64_t)column->distinct);
        if (column->distinct_capped)
            json_put_bool(out, "distinct_capped", true);
        if (column->reason[0])
            json_put_string(out, "reason", column->reason);
        json_open(out, "examples", '[');
        for (size_t k = 0;
             k < sizeof column->examples / sizeof *column->examples && column->examples[k]; k++)
            json_put_string(out, NULL, column->examples[k]);
        json_close(out, ']');
        json_close(out, '}');
    }
    json_close(out, ']');
}

void inspect_write(const struct inspect *i, struct json_out *out)
{
    json_open(out, NULL, '{');
    json_put_string(out, "schema", "dnn.inspect/1");
    json_put_string(out, "kind", i->model ? "model" : "csv");
    if (i->model)
        write_model(i, out);
    else
        write_data(i->data, out);
    json_close(out, '}');
}

/* --- text --- */

/* The name, and blanks up to `width`, at least two. */
static void put_name(struct text *out, const char *name, size_t width)
{
    const char *shown = text_quote_z(name);
    text_put(out, shown);
    size_t length = strlen(shown), end = length + 2 > width ? length + 2 : width;
    for (size_t at = length; at < end; at++)
        text_char(out, ' ');
}

static size_t widest(const char *name, size_t most)
{
    size_t length = strlen(text_quote_z(name));
    return length > most ? length < 32 ? length : 32 : most;
}

static void text_layers(struct layer *const *layers, uint32_t count, unsigned depth,
                        struct text *out)
{
    for (uint32_t l = 0; l < count; l++) {
        text_printf(out, "  %*s%-12s %u -> %u\n", (int)(2 * depth), "", layers[l]->type->name,
                    layers[l]->in, layers[l]->out);
        text_layers(layers[l]->children, layers[l]->child_count, depth + 1, out);
    }
}

/* backend.precision of the stored config; "auto" if the file has none. */
static const char *precision_wish(const struct modelfile *f)
{
    const struct json *wish =
        f->config ? json_path(json_root(f->config), "backend.precision") : NULL;
    return wish && json_kind(wish) == JSON_STRING ? json_string(wish) : "auto";
}

/* One row a metric, one column a part (valid, test, baseline). */
static void text_metrics(const char *metrics_text, struct text *out)
{
    enum { PARTS_MOST = 4 };
    const struct json *parts[PARTS_MOST];
    size_t count = 0;
    struct err e = {0};
    struct json_doc *doc = json_parse(metrics_text, strlen(metrics_text), "metrics", &e);
    if (!doc)
        return;
    const struct json *part = json_at(json_root(doc), 0);
    for (; part && count < PARTS_MOST; part = json_next(part))
        if (json_kind(part) == JSON_OBJECT && json_count(part) > 0 &&
            strcmp(json_key(part), "rows") != 0 && strcmp(json_key(part), "judged") != 0)
            parts[count++] = part;
    const struct json *judged = json_get(json_root(doc), "judged");
    for (int p = PART_VALID; judged && p < PARTS; p++) {
        char of[16];
        snprintf(of, sizeof of, "%s_of", part_words[p]);
        const struct json *some = json_get(judged, part_words[p]), *all = json_get(judged, of);
        if (some && all)
            text_printf(out, "judged     by %.0f of %.0f %s rows, for lack of time\n",
                        json_number(some), json_number(all), part_names[p]);
    }
    text_printf(out, "%-12s", "metrics");
    for (size_t p = 0; p < count; p++)
        text_printf(out, " %12s", json_key(parts[p]));
    text_put(out, count ? "\n" : "none: there were no validation and no test rows\n");
    for (const struct json *m = count ? json_at(parts[0], 0) : NULL; m; m = json_next(m)) {
        text_printf(out, "  %-10s", json_key(m));
        for (size_t p = 0; p < count; p++) {
            const struct json *v = json_get(parts[p], json_key(m));
            if (v && json_kind(v) == JSON_NUMBER)
                text_printf(out, " %12.6g", json_number(v));
            else
                text_printf(out, " %12s", "-");
        }
        text_char(out, '\n');
    }
    json_free(doc);
}

static void put_range(const struct calibration *c, struct text *out)
{
    text_put(out, "range      values are");
    if (isfinite(c->low))
        text_printf(out, " not below %s", text_figure(c->low, 6));
    if (isfinite(c->high))
        text_printf(out, "%s not above %s", isfinite(c->low) ? " and" : "",
                    text_figure(c->high, 6));
    text_char(out, '\n');
}

static void text_model(const struct inspect *i, struct text *out)
{
    const struct modelfile *f = i->model;
    const struct schema *s = f->schema;
    const int transform = f->encoders[0]->coding.transform;
    size_t width = 6;
    text_printf(out, "model      %s\n", text_quote_z(i->path));
    text_printf(out, "task       %s\n", task_names[s->task]);
    text_printf(out, "target     %s%s%s\n", text_quote_z(s->columns[s->target].name),
                transform ? ", learnt through " : "",
                transform ? target_transform_names[transform] : "");
    for (uint32_t k = 0; k < s->quantile_count; k++)
        text_printf(out, k == 0 ? "quantiles  %.9g" : " %.9g", s->quantiles[k]);
    text_put(out, s->quantile_count ? "\n" : "");
    if (s->labels) {
        uint32_t count = vocab_count(s->labels);
        text_put(out, "labels    ");
        for (uint32_t c = 0; c < count && c < 20; c++) {
            size_t length;
            const char *label = vocab_text(s->labels, c, &length);
            text_printf(out, " \"%s\"", text_quote(label, length));
        }
        text_put(out, count > 20 ? " ...\n" : "\n");
    }
    if (f->decision.threshold > 0)
        text_printf(out, "threshold  %.6g\n", f->decision.threshold);
    if (f->decision.offset)
        text_put(out, "decision   by the probability, and an offset for each label\n");
    if (f->calibration.scale > 0)
        text_printf(out, "calibrated scale %.4g, and a shift for each label\n",
                    f->calibration.scale);
    if (f->calibration.limited)
        put_range(&f->calibration, out);
    if (conformal_is_interval(&f->conformal))
        text_printf(out, "intervals  %.4g, %s\n", f->conformal.level,
                    conformal_rules[f->conformal.rule]);
    else if (f->conformal.rule)
        text_printf(out, "sets       %.4g, labels of at least %.6g\n", f->conformal.level,
                    f->conformal.reach);
    uint64_t trained = 0;
    for (uint32_t m = 0; m < f->member_count; m++)
        trained += i->plans[m]->trained;
    text_printf(out, "parameters %llu\n", (unsigned long long)trained);
    const char *wish = precision_wish(f);
    text_printf(out, "trained with %s, %s, %s", f->plan.backend, f->plan.core, f->plan.precision);
    if (strcmp(wish, "auto") != 0 && strcmp(wish, f->plan.precision) != 0)
        text_printf(out, " (requested %s)", text_quote_z(wish));
    text_printf(out, "%s%s\n", f->plan.guests[0] ? ", with " : "", text_quote_z(f->plan.guests));
    text_printf(out, "sha256     %s\n", i->sha256);
    text_put(out, "columns\n");
    for (size_t c = 0; c < s->column_count; c++)
        width = widest(s->columns[c].name, width);
    for (size_t c = 0; c < s->column_count; c++) {
        text_put(out, "  ");
        put_name(out, s->columns[c].name, width + 2);
        text_printf(out, "%s\n", column_role_names[s->columns[c].type]);
    }
    for (uint32_t m = 0; m < f->member_count; m++) {
        const struct model *plan = i->plans[m];
        if (f->member_count > 1)
            text_printf(out, "member %u, weight %.6g: ", m, f->members[m].weight);
        text_printf(out, "layers\n  %-12s %u\n", "inputs", plan->inputs.width);
        text_layers(plan->layers, plan->layer_count, 0, out);
    }
    text_metrics(f->metrics_text, out);
}

static void text_data(const struct inspect *i, struct text *out)
{
    const struct infer *d = i->data;
    size_t width = 6;
    text_printf(out, "file       %s\n", text_quote_z(i->path));
    text_printf(out, "rows       %llu\n", (unsigned long long)d->rows);
    text_printf(out, "delimiter  %s\n",
                d->dialect.delimiter == '\t' ? "TAB" : (const char[]){d->dialect.delimiter, '\0'});
    text_printf(out, "encoding   %s%s\n", csv_encoding_names[d->dialect.encoding],
                d->dialect.header ? "" : ", no header");
    for (size_t c = 0; c < d->count; c++)
        width = widest(d->columns[c].name, width);
    text_put(out, "  ");
    put_name(out, "column", width + 2);
    text_printf(out, "%-12s %9s %9s  examples\n", "type", "missing", "distinct");
    for (size_t c = 0; c < d->count; c++) {
        const struct infer_column *column = &d->columns[c];
        text_put(out, "  ");
        put_name(out, column->name, width + 2);
        text_printf(out, "%-12s %9llu %8llu%s ", column_role_names[column->type],
                    (unsigned long long)column->missing, (unsigned long long)column->distinct,
                    column->distinct_capped ? "+" : " ");
        for (size_t k = 0; k < 3 && column->examples[k]; k++)
            text_printf(out, "%s%s", k ? ", " : "", text_quote_z(column->examples[k]));
        text_char(out, '\n');
    }
}

void inspect_text(const struct inspect *i, struct text *out)
{
    if (i->model)
        text_model(i, out);
    else
        text_data(i, out);
}
