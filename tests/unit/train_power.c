/* train_power.c -
 * the power fails while a training writes its checkpoints and its model over an older
 * one: at every call, with every set of what the disk had not been asked to keep. Whatever is found
 * afterwards is whole, the model is the old or the new one, and what was said to be durable is
 * there. Ids: F13.
 *
 * The calls are recorded while a training runs (scripts/build/power.targets.mk puts the functions
 * below in front of base/sys). A disk then holds for sure what was synced; of the pages written to
 * a file since its last fsync, and of the changes to the folder since its last one, any subset.
 * That is more than a real file system loses. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/sys.h"
#include "base/text.h"
#include "model/file/modelfile.h"
#include "scratch.h"
#include "tap.h"
#include "train/keeper.h"
#include "train/train.h"

/* --- the record --- */

enum call { MADE, WRITTEN, FILE_SYNCED, RENAMED, REMOVED, FOLDER_SYNCED };
enum { CALLS = 200, FILES = 40, NAMES = 40, DESCRIPTORS = 64, PAGE = 4096, FOLDER = FILES };

static struct entry {
    enum call call;
    int file;
    char name[96], from[96];
    size_t at, length; /* of what was written */
} calls[CALLS];
static int call_count, file_count;
static char *bytes_of[FILES]; /* as they are in the end */
static size_t size_of[FILES];
static int file_of[DESCRIPTORS]; /* 0: not of interest; else file + 1 */
static bool recording;

/* the function of base/sys, and the one in front of it */
#define IN_FRONT(name, ...)                                                                        \
    int __real_sys_##name(__VA_ARGS__);                                                            \
    int __wrap_sys_##name(__VA_ARGS__)
IN_FRONT(open, const char *path, int flags, mode_t mode, int *fd);
IN_FRONT(write, int fd, const void *bytes, size_t length, uint64_t offset, size_t *done);
IN_FRONT(fsync, int fd);
IN_FRONT(rename, const char *from, const char *to);
IN_FRONT(unlink, const char *path);
IN_FRONT(close, int fd);

static const char *base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static struct entry *note(enum call call, int file, const char *name)
{
    if (call_count == CALLS || file_count == FILES) {
        printf("Bail out! more calls than expected\n");
        exit(1);
    }
    struct entry *e = &calls[call_count++];
    *e = (struct entry){.call = call, .file = file};
    snprintf(e->name, sizeof e->name, "%s", name);
    return e;
}

/* The file that has this name after the calls so far; -1: none of ours. */
static int named(const char *name)
{
    int file = -1;
    for (int i = 0; i < call_count; i++) {
        bool gone = calls[i].call == REMOVED ? strcmp(calls[i].name, name) == 0
                                             : strcmp(calls[i].from, name) == 0;
        if (strcmp(calls[i].name, name) == 0 && (calls[i].call == MADE || calls[i].call == RENAMED))
            file = calls[i].file;
        else if (gone)
            file = -1;
    }
    return file;
}

int __wrap_sys_open(const char *path, int flags, mode_t mode, int *fd)
{
    int error = __real_sys_open(path, flags, mode, fd);
    if (!recording || error || *fd >= DESCRIPTORS)
        return error;
    file_of[*fd] = 0;
    if (flags & O_DIRECTORY)
        file_of[*fd] = FOLDER + 1;
    else if (flags & O_CREAT && strstr(path, "m.dnn") && !strstr(path, ".lock")) {
        file_of[*fd] = ++file_count;
        note(MADE, file_count - 1, base(path));
    }
    return 0;
}

int __wrap_sys_write(int fd, const void *bytes, size_t length, uint64_t offset, size_t *done)
{
    if (recording && fd >= 0 && fd < DESCRIPTORS && file_of[fd]) {
        int file = file_of[fd] - 1;
        bytes_of[file] = (char *)realloc(bytes_of[file], size_of[file] + length);
        memcpy(bytes_of[file] + size_of[file], bytes, length);
        struct entry *e = note(WRITTEN, file, "");
        e->at = size_of[file];
        e->length = length;
        size_of[file] += length;
    }
    return __real_sys_write(fd, bytes, length, offset, done);
}

int __wrap_sys_fsync(int fd)
{
    if (recording && fd < DESCRIPTORS && file_of[fd])
        note(file_of[fd] - 1 == FOLDER ? FOLDER_SYNCED : FILE_SYNCED, file_of[fd] - 1, "");
    return __real_sys_fsync(fd);
}

int __wrap_sys_rename(const char *from, const char *to)
{
    if (recording) {
        int file = named(base(from));
        struct entry *e = note(RENAMED, file, base(to));
        snprintf(e->from, sizeof e->from, "%s", base(from));
    }
    return __real_sys_rename(from, to);
}

int __wrap_sys_unlink(const char *path)
{
    int file = recording ? named(base(path)) : -1;
    if (file >= 0)
        note(REMOVED, file, base(path));
    return __real_sys_unlink(path);
}

int __wrap_sys_close(int fd)
{
    if (fd >= 0 && fd < DESCRIPTORS)
        file_of[fd] = 0;
    return __real_sys_close(fd);
}

/* --- disks that may be left --- */

static char *old_model;
static size_t old_size;
enum { OLD = FILES }; /* the file that was there before */

struct disk {
    struct name { char name[48]; int file; } names[NAMES];
    int count;
    uint64_t lost[FILES]; /* pages that hold zeros, a bit each */
    size_t size[FILES];
};

static void take_name(struct disk *d, const char *name)
{
    for (int i = 0; i < d->count; i++)
        if (strcmp(d->names[i].name, name) == 0)
            d->names[i--] = d->names[--d->count];
}

static void give_name(struct disk *d, const char *name, int file)
{
    take_name(d, name);
    if (d->count < NAMES) {
        snprintf(d->names[d->count].name, sizeof d->names[0].name, "%s", name);
        d->names[d->count++].file = file;
    }
}

static void change_folder(struct disk *d, const struct entry *e)
{
    if (e->call == RENAMED)
        take_name(d, e->from);
    if (e->call == REMOVED)
        take_name(d, e->name);
    else
        give_name(d, e->name, e->file);
}

static void write_page(struct disk *d, int file, size_t page, size_t end, bool kept)
{
    size_t stop = (page + 1) * PAGE < end ? (page + 1) * PAGE : end;
    if (!kept)
        d->lost[file] |= (uint64_t)1 << page;
    else if (d->size[file] < stop)
        d->size[file] = stop;
}

/* The disk after the first `count` calls: what `kept` has a bit for among what was not synced, in
 * order, is there. Returns how many such things there are. `ignore`: a call that this program
 * pretends not to have made (CALLS: none). */
static unsigned fail_at(int count, uint64_t kept, unsigned ignore, struct disk *d)
{
    int folder_synced = -1, synced[FILES];
    unsigned loose = 0;
    *d = (struct disk){0};
    give_name(d, "m.dnn", OLD);
    for (int i = 0; i < FILES; i++)
        synced[i] = -1;
    for (int i = 0; i < count; i++) {
        if (calls[i].call == ignore)
            continue;
        if (calls[i].call == FOLDER_SYNCED)
            folder_synced = i;
        else if (calls[i].call == FILE_SYNCED)
            synced[calls[i].file] = i;
    }
    for (int i = 0; i < count; i++) {
        const struct entry *e = &calls[i];
        if (e->call == WRITTEN) {
            size_t end = e->at + e->length;
            for (size_t page = e->at / PAGE; page * PAGE < end; page++) {
                bool there = i < synced[e->file] || (kept >> loose & 1);
                loose += i >= synced[e->file];
                write_page(d, e->file, page, end, there);
            }
        } else if (e->call == MADE || e->call == RENAMED || e->call == REMOVED) {
            bool there = i < folder_synced || (kept >> loose & 1);
            loose += i >= folder_synced;
            if (there)
                change_folder(d, e);
        }
    }
    return loose;
}

static void put_disk(const struct disk *d)
{
    scratch_clear();
    for (int i = 0; i < d->count; i++) {
        int file = d->names[i].file;
        if (file == OLD) {
            scratch_put(d->names[i].name, old_model, old_size);
            continue;
        }
        char *content = (char *)calloc(d->size[file] + 1, 1);
        if (d->size[file])
            memcpy(content, bytes_of[file], d->size[file]);
        for (size_t page = 0; page * PAGE < d->size[file]; page++)
            if (d->lost[file] >> page & 1) {
                size_t left = d->size[file] - page * PAGE;
                memset(content + page * PAGE, 0, left < PAGE ? left : PAGE);
            }
        scratch_put(d->names[i].name, content, d->size[file]);
        free(content);
    }
}

/* --- what is found --- */

static char *config, data[65]; /* of the training, as its checkpoints have them */

/* What the training had said to be durable after `count` calls: the step of its newest checkpoint,
 * or INT64_MAX for its model. */
static int64_t promised(int count)
{
    int64_t step = -1;
    for (int i = 0; i < count; i++) {
        const char *tail = strstr(calls[i].name, ".ckpt-");
        bool durable = false;
        for (int k = i + 1; k < count; k++)
            durable = durable || calls[k].call == FOLDER_SYNCED;
        if (calls[i].call == RENAMED && durable)
            step = tail ? atoll(tail + 6) : INT64_MAX;
    }
    return step;
}

static const char *look(int count)
{
    struct err e = {0};
    size_t length;
    char *bytes = scratch_get("m.dnn", &length);
    struct modelfile *model = modelfile_load(scratch("m.dnn"), &e);
    bool is_old = bytes && length == old_size && memcmp(bytes, old_model, length) == 0;
    int file = named("m.dnn");
    bool is_new = bytes && length == size_of[file] && memcmp(bytes, bytes_of[file], length) == 0;
    free(bytes);
    modelfile_free(model);
    if (!model || !(is_old || is_new))
        return "the model is neither the old nor the new one";
    struct checkpoint_list l;
    checkpoint_find(scratch("m.dnn"), &l, &e);
    bool whole = true;
    for (size_t i = 0; i < l.count; i++) {
        char *path = checkpoint_path(scratch("m.dnn"), l.steps[i]);
        struct checkpoint *c = checkpoint_load(path, &e);
        mem_free(path);
        whole = whole && c;
        checkpoint_free(c);
    }
    checkpoint_list_free(&l);
    if (!whole)
        return "a checkpoint is not whole";
    int64_t least = promised(count);
    if (least == INT64_MAX)
        return is_new ? NULL : "the new model was durable and is gone";
    struct keeper k = {
        .output = mem_string(scratch("m.dnn")), .keep = 2, .config = config, .data = data};
    bool good = resume_find(&k, &e);
    int64_t step = k.found ? k.found->now.tried : -1;
    keeper_release(&k);
    return good && (step >= least || is_new) ? NULL : "a checkpoint was durable and is gone";
}

/* Every disk of every moment, or until one is bad when a call is ignored; how many there were, how
 * many were bad, and what the first bad one was. Disks that were looked at with the same promise
 * are not looked at again. */
struct sweep { unsigned disks, different, bad, loose; const char *why; };

static uint64_t digest(const struct disk *d, int64_t promise)
{
    uint64_t h = 1469598103934665603u ^ (uint64_t)promise;
    for (int i = 0; i < d->count; i++) {
        int file = d->names[i].file;
        uint64_t name = (uint64_t)file + 1;
        for (const char *c = d->names[i].name; *c; c++)
            name = (name ^ (unsigned char)*c) * 1099511628211u;
        if (file != OLD)
            name = (name ^ d->lost[file]) * 1099511628211u + d->size[file];
        h += name * name * 0x9e3779b97f4a7c15u; /* the order of the names does not count */
    }
    return h;
}

static struct sweep sweep(unsigned ignore)
{
    static uint64_t seen[1 << 16];
    struct sweep s = {0};
    memset(seen, 0, sizeof seen);
    for (int count = 0; count <= call_count && (ignore == CALLS || !s.bad); count++) {
        struct disk d;
        unsigned loose = fail_at(count, 0, ignore, &d);
        s.loose = loose > s.loose ? loose : s.loose;
        for (uint64_t kept = 0; kept < (uint64_t)1 << (loose < 12 ? loose : 12); kept++) {
            fail_at(count, kept, ignore, &d);
            uint64_t h = digest(&d, promised(count)), at = h >> 48;
            s.disks++;
            while (seen[at] && seen[at] != h)
                at = (at + 1) & 0xffff;
            if (seen[at] == h)
                continue;
            seen[at] = h;
            s.different++;
            put_disk(&d);
            const char *why = look(count);
            s.bad += why != NULL;
            s.why = s.why ? s.why : why;
        }
    }
    return s;
}

/* --- the training --- */

static bool train(unsigned epochs)
{
    struct err e = {0};
    struct train_result r;
    struct text t = {0};
    struct overrides o = {.threads = -1, .batch_size = -1, .time_limit_s = -1};
    text_printf(&t,
                "{\"task\":\"regression\",\"data\":{\"train\":\"d.csv\",\"target\":\"y\","
                "\"columns\":{\"a\":\"numeric\",\"b\":\"numeric\"}},"
                "\"model\":{\"preset\":\"mlp\",\"hidden\":[24,24]},"
                "\"backend\":{\"name\":\"dnn_cpu\",\"threads\":1},\"train\":{\"batch_size\":64,"
                "\"epochs\":%u,\"checkpoint\":{\"every_s\":0,\"keep\":2}}}",
                epochs);
    struct config *c = config_parse(t.data, t.length, scratch("c.json"), &o, &e);
    struct train_request q = {.config = c, .output = scratch("m.dnn"), .progress = 3};
    bool good = c && train_run(&q, &r, &e);
    if (!good)
        printf("# %s\n", e.what);
    config_free(c);
    text_free(&t);
    return good;
}

static void make_data(void)
{
    struct text t = {0};
    text_put(&t, "a,b,y\n");
    for (unsigned i = 0; i < 300; i++) {
        double a = rng_uniform(7, 2 * i, 0, 0, RNG_TEST), b = rng_uniform(7, i, 1, 0, RNG_TEST);
        text_printf(&t, "%.6f,%.6f,%.6f\n", a, b, 3 * a - b);
    }
    scratch_put("d.csv", t.data, t.length);
    text_free(&t);
}

/* config and data of the checkpoint that was recorded last */
static void know_training(void)
{
    struct err e = {0};
    for (int i = call_count - 1; i >= 0; i--) {
        if (calls[i].call != RENAMED || !strstr(calls[i].name, ".ckpt-"))
            continue;
        scratch_put("known", bytes_of[calls[i].file], size_of[calls[i].file]);
        struct checkpoint *c = checkpoint_load(scratch("known"), &e);
        config = mem_string(c ? c->config : "");
        if (c)
            memcpy(data, c->data, sizeof data);
        checkpoint_free(c);
        return;
    }
}

int main(void)
{
    scratch_make();
    make_data();
    ok(train(2), "a model from before");
    old_model = scratch_get("m.dnn", &old_size);
    recording = true;
    bool good = train(6);
    recording = false;
    ok(good, "a longer one that replaces it");
    unsigned made[FOLDER_SYNCED + 1] = {0};
    for (int i = 0; i < call_count; i++)
        made[calls[i].call]++;
    ok(made[RENAMED] == 6 && made[FILE_SYNCED] == 6 && made[FOLDER_SYNCED] == 6 &&
           made[REMOVED] == 5,
       "five checkpoints and a model: %d calls recorded", call_count);
    know_training();
    struct sweep s = sweep(CALLS);
    ok(s.bad == 0 && s.different > 100,
       "F13 power fails at any call, and of what was not synced any part is lost: %u disks, %u "
       "different, %u bad%s%s",
       s.disks, s.different, s.bad, s.why ? ": " : "", s.why ? s.why : "");
    ok(s.loose <= 12, "every part was tried: at most %u were not synced at once", s.loose);
    s = sweep(FILE_SYNCED);
    ok(s.bad > 0, "F13 without the fsync of files it would show: %s", s.why ? s.why : "");
    s = sweep(FOLDER_SYNCED);
    ok(s.bad > 0, "F13 without the fsync of the folder too: %s", s.why ? s.why : "");
    mem_free(config);
    free(old_model);
    for (int i = 0; i < file_count; i++)
        free(bytes_of[i]);
    return done();
}
