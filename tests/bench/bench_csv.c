/* bench_csv.c - how fast a CSV file becomes the float matrix of a table:
 *
 *     bench_csv FILE                                          the seconds of one reading
 *     bench_csv FILE TARGET [THREADS [ROUNDS [DELIMITER]]]    the best of ROUNDS, as JSON
 *
 * A column whose first cell is a number is numeric, another categorical; so is the target (the last
 * column when none is named). Reading is from files to raw records; the JSON also has the whole
 * loading: split, statistics, scaling, hash. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/process/thread.h"
#include "csv/form/number.h"
#include "table/table.h"

static _Noreturn void fail(const struct err *e)
{
    fprintf(stderr, "bench_csv: %s:%lld: %s\n", e->file, (long long)e->line, e->what);
    exit(1);
}

static int task;

static bool is_number(const struct csv_cell *c)
{
    double v;
    return number_parse(c->text, c->length, '.', &v) == NUMBER_OK;
}

/* The config: columns numeric or categorical by their first cells. */
static void write_config(struct json_out *out, const char *path, const char *target,
                         const char *delimiter)
{
    const struct csv_dialect d = {.delimiter = *delimiter, .header = true};
    struct err e = {0};
    const char *const *names;
    size_t count;
    char *paths[] = {mem_string(path)};
    struct csv *c = csv_open(&d, paths, 1, &e);
    struct csv_block b;
    struct csv_cells cells = {0};
    if (!c || !csv_header(c, &names, &count, &e) || !csv_next(c, &b, &e) ||
        !csv_cells_parse(&d, &b, count, &cells, &e))
        fail(&e);
    json_open(out, NULL, '{');
    json_open(out, "data", '{');
    json_put_string(out, "train", path);
    json_put_string(out, "target", target ? target : names[count - 1]);
    json_put_string(out, "delimiter", delimiter);
    json_open(out, "columns", '{');
    for (size_t i = 0; i < count; i++) {
        bool number = is_number(&cells.cells[i]);
        if (target ? strcmp(names[i], target) != 0 : i + 1 < count)
            json_put_string(out, names[i], number ? "numeric" : "categorical");
        else
            task = number ? TASK_REGRESSION : TASK_MULTICLASS;
    }
    json_close(out, '}');
    json_open(out, "split", '{');
    json_put_string(out, "method", "random");
    json_close(out, '}');
    json_close(out, '}');
    json_close(out, '}');
    csv_cells_free(&cells);
    csv_release(c, &b);
    csv_close(c);
    mem_free(paths[0]);
}

static double run(const struct data_options *o, const struct json_doc *doc, bool whole,
                  uint64_t *rows)
{
    struct err e = {0};
    struct schema *s = schema_declare(o, task, doc, &e);
    if (!s)
        fail(&e);
    double began = clock_now(), seconds;
    struct table *t = NULL;
    struct dataset *d = NULL;
    if (whole)
        t = table_load(s, o, 0, NULL, &e);
    else
        d = dataset_load(s, o, NULL, &e);
    if (!t && !d)
        fail(&e);
    seconds = clock_now() - began;
    *rows = whole ? table_rows(t)->count : d->rows.count;
    table_free(t);
    dataset_free(d);
    schema_free(s);
    return seconds;
}

static void rounds_run(const struct data_options *o, const struct json_doc *doc, const char *path,
                       int64_t rounds)
{
    struct file f;
    struct err e = {0};
    if (!file_open(&f, path, &e))
        fail(&e);
    double megabytes = (double)f.size / 1e6, read = 1e9, load = 1e9;
    uint64_t rows = 0;
    file_close(&f);
    for (int64_t i = 0; i < rounds; i++) {
        double a = run(o, doc, false, &rows), b = run(o, doc, true, &rows);
        read = a < read ? a : read;
        load = b < load ? b : load;
    }
    printf("{\"rows\":%llu,\"megabytes\":%.1f,\"threads\":%u,\"read_s\":%.4f,\"read_mb_s\":%.0f,"
           "\"load_s\":%.4f,\"load_mb_s\":%.0f,\"peak_mib\":%.0f}\n",
           (unsigned long long)rows, megabytes, threads_count(), read, megabytes / read, load,
           megabytes / load, (double)mem_peak() / 1048576);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: bench_csv FILE [TARGET [THREADS [ROUNDS [DELIMITER]]]]\n");
        return 64;
    }
    int64_t threads = 0, rounds = 5;
    if ((argc > 3 && !text_to_int(argv[3], &threads)) ||
        (argc > 4 && !text_to_int(argv[4], &rounds)))
        return 64;
    threads_start((unsigned)threads);
    struct json_out out = {0};
    struct err e = {0};
    struct data_options o = {0};
    write_config(&out, argv[1], argc > 2 ? argv[2] : NULL, argc > 5 ? argv[5] : ",");
    struct json_doc *doc = json_parse(out.text.data, out.text.length, "config", &e);
    if (!doc ||
        !opt_read(data_options_table, doc, json_path(json_root(doc), "data"), "data", &o, &e) ||
        !data_options_settle(&o, task, doc, &e))
        fail(&e);
    if (argc == 2)
        printf("%.6f\n", run(&o, doc, false, &(uint64_t){0}));
    else
        rounds_run(&o, doc, argv[1], rounds);
    opt_release(data_options_table, &o);
    json_free(doc);
    text_free(&out.text);
    threads_stop();
    return 0;
}
