/* Of the catalogue: M02 M03 M07 M08 M09 M10.
 * model_modelfile.c - a model written and read back; the same model gives the same bytes; files
 * that are wrong in one place are refused with an id of the E15 family, and whatever the bytes are,
 * nothing crashes. */
#include <math.h>

#include "base/file/file.h"
#include "base/mem.h"
#include "base/file/sha256.h"
#include "base/file/tensorfile.h"
#include "model/file/modelfile.h"
#include "scratch.h"
#include "tap.h"


static const char config[] = "{\"task\":\"multiclass\",\"model\":{\"preset\":\"mlp\",\"hidden\":[6]"
                             ",\"activation\":\"relu\",\"norm\":\"batch\",\"dropout\":0.1,"
                             "\"layers\":[{\"type\":\"dense\",\"units\":6},{\"type\":\"batch_"
                             "norm\"},{\"type\":\"relu\"},{\"type\":\"dropout\"}]}}";

static struct encoder *encoder_of_case(void)
{
    static const struct {
        const char *name;
        int type;
    } columns[] = {{"age", COLUMN_NUMERIC},
                   {"city", COLUMN_CATEGORICAL},
                   {"size", COLUMN_NUMERIC},
                   {"label", COLUMN_TARGET}};
    static const char *const cities[] = {"Bonn", "K\303\266ln", "Ulm"}, *const labels[] = {"a", "b",
                                                                                           "c"};
    struct schema *s = mem_zero(1, sizeof *s);
    s->task = TASK_MULTICLASS;
    s->dialect.delimiter = ',';
    s->dialect.header = true;
    s->decimal = '.';
    s->columns = mem_zero(4, sizeof *s->columns);
    s->column_count = 4;
    s->target = 3;
    s->file_columns = 4;
    for (size_t i = 0; i < 4; i++) {
        s->columns[i] = (struct column){.name = mem_string(columns[i].name),
                                        .type = columns[i].type,
                                        .min_count = 1,
                                        .number = UINT32_MAX,
                                        .category = UINT32_MAX};
        s->columns[i].encode = i == 1 ? ENCODE_EMBEDDING : ENCODE_AUTO;
        s->columns[i].dim = 2;
    }
    schema_layout(s);
    struct encoder *c = encoder_new(s);
    for (size_t i = 0; i < 3; i++) {
        vocab_add(c->columns[1].vocab, cities[i], strlen(cities[i]));
        vocab_add(s->labels, labels[i], strlen(labels[i]));
    }
    for (uint32_t i = 0; i < c->number_count; i++)
        c->numbers[i] = (struct number_slot){
            .scale = SCALE_STANDARD, .factor = 0.5, .low = -1, .high = 1, .indicator = i == 1};
    return c;
}

static struct architecture *architecture_of_case(void)
{
    struct err e = {0};
    struct json_doc *doc = json_parse(config, strlen(config), "case", &e);
    const struct model_options o = {.doc = doc, .model = json_get(json_root(doc), "model")};
    struct architecture *a = architecture_read(&o, &e);
    json_free(doc);
    return a;
}

static struct model *planned(const struct modelfile *f, const struct architecture *a)
{
    struct err e = {0};
    struct features *features = encoder_features(f->encoders[0]);
    struct model *m = model_plan(a, features, 1, 1, false, &e);
    features_free(features);
    return m;
}

/* Of the case's own config, or of what was loaded. */
static bool save(const struct modelfile *f, const char *path, char digest[65], struct err *e)
{
    struct architecture *own = f->members[0].architecture ? NULL : architecture_of_case();
    struct model *m = planned(f, own ? own : f->members[0].architecture);
    const struct model *plans[] = {m, m};
    bool good = modelfile_save(f, plans, path, digest, e);
    model_free(m);
    architecture_free(own);
    return good;
}

/* A model with weights drawn from seed, of some members; modelfile_free. */
static struct modelfile *model_with(uint64_t seed, uint32_t members)
{
    struct modelfile *f = mem_zero(1, sizeof *f);
    f->encoders = mem_zero(1, sizeof *f->encoders);
    f->encoders[f->encoder_count++] = encoder_of_case();
    f->schema = f->encoders[0]->schema;
    f->config_text = mem_string(config);
    f->metrics_text = mem_string("{\"valid\":{\"accuracy\":0.5}}");
    f->plan = (struct plan){.backend = "cpu",
                            .core = "c",
                            .blas_core = "none",
                            .precision = "fp32",
                            .batch = 32,
                            .micro = 1,
                            .shards = 1,
                            .version = 3};
    struct architecture *a = architecture_of_case();
    struct model *m = planned(f, a);
    f->members = mem_zero(members, sizeof *f->members);
    f->member_count = members;
    for (uint32_t i = 0; i < members; i++) {
        struct member *member = &f->members[i];
        member->weight = i ? 0.25 : 0.75;
        member->param_count = m->params;
        member->buffer_count = m->buffers;
        member->params = mem_alloc(m->params, sizeof(real));
        member->buffers = mem_alloc(m->buffers, sizeof(real));
        model_init(m, seed + i, 0, member->params, member->buffers);
    }
    model_free(m);
    architecture_free(a);
    f->golden = (struct golden){.count = 2,
                                .cells = 3,
                                .text = mem_string("31Bonn1.532K\303\266ln"),
                                .offsets = mem_alloc(7, sizeof(uint64_t)),
                                .logits = mem_alloc((size_t)6 * members, sizeof(real))};
    const uint64_t offsets[] = {0, 2, 6, 9, 11, 16, 16};
    memcpy(f->golden.offsets, offsets, sizeof offsets);
    for (uint32_t i = 0; i < 6 * members; i++)
        f->golden.logits[i] = (real)i / 4;
    return f;
}

static bool same_member(const struct member *a, const struct member *b)
{
    return a->param_count == b->param_count && a->buffer_count == b->buffer_count &&
           memcmp(a->params, b->params, a->param_count * sizeof(real)) == 0 &&
           memcmp(a->buffers, b->buffers, a->buffer_count * sizeof(real)) == 0;
}

static void round_trip(void)
{
    struct err e = {0};
    char digest[65], again[65];
    struct modelfile *f = model_with(1, 1);
    ok(save(f, scratch("a.dnn"), digest, &e), "saved %s", e.what);
    ok(save(f, scratch("b.dnn"), again, &e), "saved once more");
    is_string(again, digest, "the same bytes");
    struct modelfile *g = modelfile_load(scratch("a.dnn"), &e);
    ok(g != NULL, "loaded %s", e.what);
    ok(tensor_digest(scratch("a.dnn"), again, &e) && strcmp(again, digest) == 0, "its digest");
    is_string(g->config_text, config, "its config");
    is_string(g->metrics_text, f->metrics_text, "its metrics");
    const char *differs;
    ok(plan_same(&f->plan, &g->plan, &differs), "its plan");
    ok(g->member_count == 1 && same_member(&g->members[0], &f->members[0]),
       "its weights and buffers");
    ok(g->golden.count == 2 && g->golden.cells == 3 &&
           memcmp(g->golden.offsets, f->golden.offsets, 56) == 0 &&
           memcmp(g->golden.text, f->golden.text, 16) == 0 &&
           memcmp(g->golden.logits, f->golden.logits, 6 * sizeof(real)) == 0,
       "its golden rows");
    ok(save(g, scratch("c.dnn"), again, &e), "saved from what was loaded");
    is_string(again, digest, "the same bytes again");
    modelfile_free(g);
    modelfile_free(f);

    f = model_with(1, 1);
    f->golden.count = 0;
    ok(save(f, scratch("none.dnn"), digest, &e), "saved without golden rows");
    g = modelfile_load(scratch("none.dnn"), &e);
    ok(g && g->golden.count == 0 && !g->golden.logits, "loaded without golden rows");
    modelfile_free(g);
    modelfile_free(f);

    f = model_with(1, 1);
    struct text config_text = {0};
    text_add(&config_text, config, sizeof config - 2);
    text_printf(&config_text, ",\"columns\":\"%0300000d\"}", 0);
    mem_free(f->config_text);
    f->config_text = config_text.data;
    ok(save(f, scratch("long.dnn"), digest, &e), "saved with a long config");
    g = modelfile_load(scratch("long.dnn"), &e);
    ok(g && strcmp(g->config_text, f->config_text) == 0, "loaded with a long config %s", e.what);
    modelfile_free(g);
    modelfile_free(f);
}

/* --- wrong in one place: the good file is taken apart and put together with one change --- */

struct change {
    const char *name; /* tensor or metadata key */
    const char *meta; /* new metadata; NULL: none */
    bool drop;        /* left out */
    const void *data; /* new content of the tensor */
    enum dtype type;
    unsigned rank;
    uint64_t dims[2];
    uint64_t at; /* a number put into the tensor instead */
    double number;
    bool put;
};

static void rewrite(const struct change *c, const char *to)
{
    static const char *const keys[] = {"kind", "format", "config", "plan", "metrics"};
    struct err e = {0};
    struct tensor_file *f = tensor_open(scratch("a.dnn"), &e);
    struct tensor_writer *w = tensor_writer_new();
    void *copies[64] = {0};
    bool used = false;
    for (size_t i = 0; i < 5; i++) {
        bool this = strcmp(keys[i], c->name) == 0;
        used |= this;
        if (!this || c->meta)
            tensor_meta(w, keys[i], this ? c->meta : tensor_file_meta(f, keys[i]));
    }
    for (size_t i = 0; i < tensor_file_count(f); i++) {
        const struct tensor *t = tensor_file_at(f, i);
        bool this = strcmp(t->name, c->name) == 0;
        copies[i] = mem_copy(t->data, t->count * dtype_bytes(t->type));
        used |= this;
        if (this && c->put && t->type == DTYPE_F32)
            ((float *)copies[i])[c->at] = (float)c->number;
        else if (this && c->put)
            ((int64_t *)copies[i])[c->at] = (int64_t)c->number;
        if (this && c->data)
            tensor_add(w, t->name, c->type, c->rank, c->dims, c->data);
        else if (!this || !c->drop)
            tensor_add(w, t->name, t->type, t->rank, t->dims, copies[i]);
    }
    if (!used)
        tensor_add(w, c->name, c->type, c->rank, c->dims, c->data);
    if (!tensor_write(w, scratch(to), NULL, &e))
        ok(false, "written: %s", e.what);
    for (size_t i = 0; i < 64; i++)
        mem_free(copies[i]);
    tensor_writer_free(w);
    tensor_close(f);
}

static void refused(struct change c, enum err_id id, const char *what)
{
    struct err e = {0};
    rewrite(&c, "wrong.dnn");
    struct modelfile *f = modelfile_load(scratch("wrong.dnn"), &e);
    ok(!f && e.id == id && strstr(e.what, what), "%s: E%d %s", c.name, (int)e.id, e.what);
    ok(err_exit(&e) == EXIT_FORMAT && strstr(e.file, "wrong.dnn"),
       "  exit 76, and the file is named");
    modelfile_free(f);
}

/* Two members: their weights in the mean and both networks come back; what is no mean of two
 * networks is refused. */
static void two_members(void)
{
    static const double none[2] = {0}, negative[2] = {1, -1}, three[3] = {1, 1, 1};
    static const int64_t first[2] = {0}, other[2] = {0, 1}, beyond[2] = {0, 2};
    struct err e = {0};
    struct modelfile *f = model_with(1, 2);
    ok(save(f, scratch("a.dnn"), NULL, &e), "two members are saved %s", e.what);
    struct modelfile *g = modelfile_load(scratch("a.dnn"), &e);
    if (ok(g && g->member_count == 2, "and loaded %s", e.what)) {
        for (int i = 0; i < 2; i++) {
            const struct member *a = &f->members[i], *b = &g->members[i];
            ok(same_member(a, b) && a->weight == b->weight, "member %d as it was", i);
        }
        ok(memcmp(g->golden.logits, f->golden.logits, 12 * sizeof(real)) == 0,
           "golden rows have the logits of both");
    }
    modelfile_free(g);
    struct change c = {
        .name = "ensemble.encoders", .data = first, .type = DTYPE_I64, .rank = 1, .dims = {2}};
    rewrite(&c, "other.dnn");
    g = modelfile_load(scratch("other.dnn"), &e);
    ok(g && g->member_count == 2, "both may name encoder 0 %s", e.what);
    modelfile_free(g);
    c.data = other;
    refused(c, ERR_MODEL_TENSOR, "encoders.1.");
    c.data = beyond;
    refused(c, ERR_MODEL_WEIGHTS, "encoder");
    c.name = "ensemble.weights";
    c.type = DTYPE_F64;
    c.data = none;
    refused(c, ERR_MODEL_WEIGHTS, "ensemble.weights");
    c.data = negative;
    refused(c, ERR_MODEL_WEIGHTS, "ensemble.weights");
    c.data = three;
    c.dims[0] = 3;
    refused(c, ERR_MODEL_TENSOR, "members.2.layers");
    c.dims[0] = 1;
    refused(c, ERR_MODEL_GOLDEN, "golden");
    refused((struct change){.name = "members.1.layers.0.bias", .drop = true}, ERR_MODEL_TENSOR,
            "members.1.layers.0.bias");
    modelfile_free(f);
}

/* What answers do not need is ignored. */
static void lenient(void)
{
    static const float numbers[4] = {0};
    const struct change changes[] = {
        {.name = "config"},
        {.name = "config", .meta = "{\"task\":"},
        {.name = "config", .meta = "{\"task\":\"binary\",\"model\":{\"preset\":\"mpl\"}}"},
        {.name = "metrics"},
        {.name = "metrics", .meta = "{"},
        {.name = "plan"},
        {.name = "plan", .meta = "{\"backend\":\"cpu\"}"},
        {.name = "weights.more", .data = numbers, .type = DTYPE_F32, .rank = 1, .dims = {4}},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct err e = {0};
        rewrite(&changes[i], "other.dnn");
        struct modelfile *f = modelfile_load(scratch("other.dnn"), &e);
        ok(f && f->members[0].params && f->config_text && f->metrics_text, "%s, %s: read %s",
           changes[i].name, changes[i].meta ? changes[i].meta : "none", e.what);
        modelfile_free(f);
    }
}

/* Names of parameters stand in the header, which has room for some 8,000. */
static void many_layers(void)
{
    struct modelfile *f = model_with(1, 1);
    for (int layers = 1000; layers <= 4000; layers += 3000) {
        struct err e = {0};
        struct text text = {0};
        text_put(&text, "{\"layers\":[");
        for (int i = 0; i < layers; i++)
            text_put(&text, i ? ",{\"type\":\"batch_norm\"}" : "{\"type\":\"batch_norm\"}");
        text_put(&text, "]}");
        struct architecture *a = architecture_parse(text.data, "many", &e);
        struct model *m = planned(f, a);
        bool fits = modelfile_holds(m, &e);
        ok(fits == (layers == 1000) && (fits || e.id == ERR_CONFIG_SIZE), "%d layers: %s", layers,
           e.what);
        model_free(m);
        architecture_free(a);
        text_free(&text);
    }
    modelfile_free(f);
}

#define W "members.0.layers.0.weight"

static struct change layers(const char *text)
{
    return (struct change){.name = "members.0.layers", .data = text, .type = DTYPE_U8, .rank = 1,
                           .dims = {strlen(text)}};
}

static void hostile(void)
{
    static const float numbers[4] = {0};
    static const double doubles[30] = {0};
    refused((struct change){.name = "kind"}, ERR_MODEL_FOREIGN, "kind");
    refused((struct change){.name = "kind", .meta = "checkpoint"}, ERR_MODEL_FOREIGN, "checkpoint");
    refused((struct change){.name = "format"}, ERR_MODEL_HEADER, "format");
    refused((struct change){.name = "format", .meta = "1x"}, ERR_MODEL_HEADER, "format");
    /* M10 a newer format */
    refused((struct change){.name = "format", .meta = "4"}, ERR_MODEL_NEWER, "format 4");
    refused((struct change){.name = "format", .meta = "2"}, ERR_MODEL_OLDER, "format 2");
    refused(layers("[{\"type\":\"magic\"},{\"type\":\"dense\",\"units\":3}]"), ERR_MODEL_NEWER,
            "magic");
    refused(layers("[{\"type\":\"dense\",\"units\":3,\"sparse\":1}]"), ERR_MODEL_NEWER, "sparse");
    refused(layers("[{\"type\":\"relu\"}]"), ERR_MODEL_CONFIG, "last layer");
    refused(layers("[]"), ERR_MODEL_CONFIG, "last layer");
    refused(layers("[{\"type\":\"dense\",\"units\":3}"), ERR_MODEL_CONFIG, "layers");
    refused(layers("{}"), ERR_MODEL_CONFIG, "layers");
    refused(layers("[{\"type\":\"dense\",\"units\":2}]"), ERR_MODEL_CONFIG, "outputs");
    refused(layers("[{\"type\":\"dense\",\"units\":3}]"), ERR_MODEL_WEIGHTS, "layers.0.weight");
    refused(layers("[{\"type\":\"dense\",\"units\":16777216},{\"type\":\"dense\",\"units\":"
                   "16777216},{\"type\":\"dense\",\"units\":3}]"),
            ERR_MODEL_CONFIG, "too large");
    refused((struct change){.name = "members.0.layers", .drop = true}, ERR_MODEL_TENSOR,
            "members.0.layers");
    /* M07 a tensor is missing, M08 another shape */
    refused((struct change){.name = W, .drop = true}, ERR_MODEL_TENSOR, W);
    refused((struct change){.name = W, .data = numbers, .type = DTYPE_F32, .rank = 1, .dims = {4}},
            ERR_MODEL_WEIGHTS, "shape");
    refused(
        (struct change){.name = W, .data = doubles, .type = DTYPE_F64, .rank = 2, .dims = {5, 6}},
        ERR_MODEL_TENSOR, W);
    refused(
        (struct change){.name = W, .data = numbers, .type = DTYPE_F32, .rank = 2, .dims = {0, 6}},
        ERR_MODEL_WEIGHTS, "shape");
    refused((struct change){.name = "members.0.embeddings", .drop = true}, ERR_MODEL_TENSOR,
            "embeddings");
    refused((struct change){.name = "members.0.embeddings", .data = numbers, .type = DTYPE_F32,
                            .rank = 1, .dims = {4}},
            ERR_MODEL_WEIGHTS, "shape");
    /* M09 a weight that is no number, a negative variance */
    refused((struct change){.name = W, .put = true, .at = 3, .number = NAN}, ERR_MODEL_NONFINITE,
            "number 3");
    refused((struct change){.name = "members.0.embeddings", .put = true, .number = INFINITY},
            ERR_MODEL_NONFINITE, "number 0");
    refused((struct change){.name = "members.0.layers.1.running_var", .put = true, .at = 2,
                            .number = -0.5},
            ERR_MODEL_WEIGHTS, "variance");
    refused((struct change){.name = "golden.logits", .drop = true}, ERR_MODEL_GOLDEN, "golden");
    refused((struct change){.name = "golden.text", .drop = true}, ERR_MODEL_GOLDEN, "golden");
    refused(
        (struct change){
            .name = "golden.logits", .data = numbers, .type = DTYPE_F32, .rank = 2, .dims = {2, 2}},
        ERR_MODEL_GOLDEN, "shape");
    refused((struct change){.name = "golden.logits", .put = true, .at = 2, .number = INFINITY},
            ERR_MODEL_NONFINITE, "golden");
    refused((struct change){.name = "golden.offsets", .put = true, .at = 2, .number = 1},
            ERR_MODEL_GOLDEN, "follow");
    refused((struct change){.name = "golden.offsets", .put = true, .at = 6, .number = 1e15},
            ERR_MODEL_GOLDEN, "follow");
    refused((struct change){.name = "golden.offsets", .put = true, .at = 0, .number = -1},
            ERR_MODEL_GOLDEN, "follow");
    refused((struct change){.name = "schema.types", .drop = true}, ERR_MODEL_TENSOR,
            "schema.types");
}

/* --- every byte, with a hash that fits: refused with 76 or a model, and never a crash --- */

static void mend(unsigned char *bytes, size_t length)
{
    struct sha256 s;
    char hex[65];
    memset(bytes + 35, '0', 64);
    sha256_init(&s);
    sha256_add(&s, bytes, length);
    sha256_hex(&s, hex);
    memcpy(bytes + 35, hex, 64);
}

/* 0: a model; 1: refused with 76; 2: any other error. */
static int outcome(const void *bytes, size_t length)
{
    struct err e = {0};
    struct modelfile *f = modelfile_load_bytes(bytes, length, "mutant", &e);
    modelfile_free(f);
    return f ? 0 : err_exit(&e) == EXIT_FORMAT ? 1 : 2;
}

static void every_byte(unsigned char *good, size_t length)
{
    size_t count[3] = {0}, others = 0;
    unsigned char *bytes = mem_alloc(length, 1);
    for (size_t at = 0; at < length; at++)
        for (unsigned bit = 0; bit < 8; bit++) {
            memcpy(bytes, good, length);
            bytes[at] ^= (unsigned char)(1u << bit);
            others += outcome(bytes, length) != 1;
            if (bit % 3 || (at >= 35 && at < 99))
                continue;
            bytes[at] = (unsigned char)(good[at] ^ (bit == 6 ? 0xff : 1u << bit));
            mend(bytes, length);
            count[outcome(bytes, length)]++;
        }
    ok(others == 0 && !count[2],
       "M03 every bit is seen by the hash; with one that fits, %zu are refused, %zu are models",
       count[1], count[0]);
    for (size_t cut = 0; cut < length; cut++)
        others += outcome(good, cut) != 1;
    ok(others == 0, "M02 cut short anywhere: refused");
    mem_free(bytes);
}

int main(void)
{
    scratch_make();
    round_trip();
    lenient();
    hostile();
    size_t length = 0;
    unsigned char *bytes = (unsigned char *)scratch_get("a.dnn", &length);
    every_byte(bytes, length);
    free(bytes);
    many_layers();
    two_members();
    return done();
}
