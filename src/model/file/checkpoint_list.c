/* checkpoint_list.c - see checkpoint_list.h. */
#include "model/file/checkpoint_list.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/file/file.h"
#include "base/mem.h"
#include "base/file/outfile.h"
#include "base/sort.h"
#include "base/sys.h"
#include "base/text.h"

#define INFIX ".ckpt-" /* between the output's name and the step */
#define RUN_INFIX INFIX "run-"
enum { STEP_DIGITS = 12, RUN_DIGITS = 10 };

char *checkpoint_path(const char *output, int64_t step)
{
    struct text t = {0};
    text_printf(&t, "%s" INFIX "%0*lld", output, STEP_DIGITS, (long long)step);
    return t.data;
}

char *checkpoint_run_path(const char *output, uint32_t run)
{
    struct text t = {0};
    text_printf(&t, "%s" RUN_INFIX "%u", output, run);
    return t.data;
}

/* NULL with an errno when it cannot be listed. Opened through base/sys, so that faults reach it. */
static DIR *folder_open(const char *output, int *error)
{
    size_t head = (size_t)(file_base_name(output) - output);
    char *folder = head ? mem_string_n(output, head) : mem_string(".");
    DIR *d = NULL;
    int fd;
    *error = sys_open(folder, O_RDONLY | O_DIRECTORY, 0, &fd);
    if (!*error) {
        d = fdopendir(fd);
        if (!d) {
            *error = errno;
            sys_close(fd);
        }
    }
    mem_free(folder);
    return d;
}

/* The next entry; NULL at the end (*error 0) or when it cannot be read. */
static struct dirent *folder_next(DIR *d, int *error)
{
    errno = 0;
    struct dirent *entry = readdir(d);
    *error = entry ? 0 : errno;
    return entry;
}

/* The digits up to the end, -1 for any other text. */
static int64_t number_of(const char *text)
{
    int64_t number = 0;
    for (; *text; text++) {
        if (!isdigit((unsigned char)*text))
            return -1;
        number = 10 * number + (*text - '0');
    }
    return number;
}

/* The step in ".ckpt-000000001234" at the end of a name; -1 for any other tail. */
static int64_t step_of(const char *tail)
{
    const size_t length = sizeof INFIX - 1;
    bool is = strncmp(tail, INFIX, length) == 0 && strlen(tail + length) == STEP_DIGITS;
    return is ? number_of(tail + length) : -1;
}

/* The run in ".ckpt-run-12" at the end of a name; -1 for any other tail. */
static int64_t run_of(const char *tail)
{
    const size_t length = sizeof RUN_INFIX - 1;
    bool is = strncmp(tail, RUN_INFIX, length) == 0 && tail[length] &&
              strlen(tail + length) <= RUN_DIGITS && (tail[length] != '0' || !tail[length + 1]);
    int64_t run = is ? number_of(tail + length) : -1;
    return run <= UINT32_MAX ? run : -1;
}

bool checkpoint_is(const char *output, const char *path)
{
    char *model = file_final(output), *final = file_final(path);
    const char *name = file_base_name(final), *of = file_base_name(model);
    const char *tail = strncmp(name, of, strlen(of)) == 0 ? name + strlen(of) : "";
    const int64_t step = step_of(tail), run = run_of(tail);
    char *one = step >= 0  ? checkpoint_path(model, step)
                : run >= 0 ? checkpoint_run_path(model, (uint32_t)run)
                           : NULL;
    bool is = one && file_same(final, one);
    mem_free(one);
    mem_free(final);
    mem_free(model);
    return is;
}

static int by_step(const void *a, const void *b, const void *context)
{
    (void)context;
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static bool no_list(const char *output, int error, struct err *e)
{
    return err_errno(e, output, error, false,
                     "the folder of the output cannot be searched for checkpoints");
}

static bool find(const char *output, int64_t (*of)(const char *tail), struct checkpoint_list *l,
                 struct err *e)
{
    *l = (struct checkpoint_list){0};
    int error;
    DIR *d = folder_open(output, &error);
    if (!d)
        return error == ENOENT || no_list(output, error, e);
    const char *name = file_base_name(output);
    size_t length = strlen(name);
    for (struct dirent *entry; (entry = folder_next(d, &error));) {
        int64_t step = strncmp(entry->d_name, name, length) == 0 ? of(entry->d_name + length) : -1;
        if (step < 0)
            continue;
        l->steps = mem_more(l->steps, l->count, sizeof *l->steps);
        l->steps[l->count++] = step;
    }
    closedir(d);
    if (error) {
        checkpoint_list_free(l);
        return no_list(output, error, e);
    }
    sort_stable(l->steps, l->count, sizeof *l->steps, by_step, NULL);
    return true;
}

bool checkpoint_find(const char *output, struct checkpoint_list *l, struct err *e)
{
    return find(output, step_of, l, e);
}

bool checkpoint_find_runs(const char *output, struct checkpoint_list *l, struct err *e)
{
    return find(output, run_of, l, e);
}

void checkpoint_list_free(struct checkpoint_list *l)
{
    mem_free(l->steps);
    *l = (struct checkpoint_list){0};
}

unsigned checkpoint_sweep(const char *output)
{
    return outfile_sweep(output, INFIX);
}
