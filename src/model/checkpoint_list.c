/* checkpoint_list.c - see checkpoint_list.h. */
#include "model/checkpoint_list.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/outfile.h"
#include "base/sort.h"
#include "base/sys.h"
#include "base/text.h"

#define INFIX ".ckpt-" /* between the output's name and the step */
enum { STEP_DIGITS = 12 };

char *checkpoint_path(const char *output, int64_t step)
{
    struct text t = {0};
    text_printf(&t, "%s" INFIX "%0*lld", output, STEP_DIGITS, (long long)step);
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

/* The step in ".ckpt-000000001234" and nothing behind it, -1 for any other tail. */
static int64_t step_of(const char *tail)
{
    int64_t step = 0;
    if (strncmp(tail, INFIX, sizeof INFIX - 1) != 0 ||
        strlen(tail += sizeof INFIX - 1) != STEP_DIGITS)
        return -1;
    for (; *tail; tail++) {
        if (!isdigit((unsigned char)*tail))
            return -1;
        step = 10 * step + (*tail - '0');
    }
    return step;
}

bool checkpoint_is(const char *output, const char *path)
{
    char *model = file_final(output), *final = file_final(path);
    const char *name = file_base_name(final), *of = file_base_name(model);
    int64_t step = strncmp(name, of, strlen(of)) == 0 ? step_of(name + strlen(of)) : -1;
    char *one = step >= 0 ? checkpoint_path(model, step) : NULL;
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

bool checkpoint_find(const char *output, struct checkpoint_list *l, struct err *e)
{
    *l = (struct checkpoint_list){0};
    size_t room = 0;
    int error;
    DIR *d = folder_open(output, &error);
    if (!d)
        return error == ENOENT || no_list(output, error, e);
    const char *name = file_base_name(output);
    size_t length = strlen(name);
    for (struct dirent *entry; (entry = folder_next(d, &error));) {
        int64_t step =
            strncmp(entry->d_name, name, length) == 0 ? step_of(entry->d_name + length) : -1;
        if (step < 0)
            continue;
        if (l->count == room) {
            room = room ? 2 * room : 16;
            l->steps = mem_grow(l->steps, room, sizeof *l->steps);
        }
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

void checkpoint_list_free(struct checkpoint_list *l)
{
    mem_free(l->steps);
    *l = (struct checkpoint_list){0};
}

unsigned checkpoint_sweep(const char *output)
{
    return outfile_sweep(output, INFIX);
}
