/* warnings.c - see warnings.h. */
#include "base/process/warnings.h"

#include <pthread.h>
#include <string.h>

#include "base/file/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/reexec.h"
#include "base/text.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct text lines; /* one a line */

static void keep(const char *message)
{
    static _Thread_local bool inside; /* this function may warn itself */
    if (inside)
        return;
    inside = true;
    pthread_mutex_lock(&lock);
    text_put(&lines, message);
    text_char(&lines, '\n');
    pthread_mutex_unlock(&lock);
    inside = false;
}

void warnings_keep(void)
{
    char *before = reexec_warnings() ? file_small(reexec_warnings()) : NULL;
    warnings_drop();
    pthread_mutex_lock(&lock);
    text_put(&lines, before ? before : "");
    pthread_mutex_unlock(&lock);
    mem_free(before);
    log_on_warning(keep);
}

void warnings_lines(struct text *out)
{
    pthread_mutex_lock(&lock);
    text_add(out, lines.data ? lines.data : "", lines.length);
    pthread_mutex_unlock(&lock);
}

void warnings_write(struct json_out *out)
{
    json_open(out, "warnings", '[');
    pthread_mutex_lock(&lock);
    for (size_t at = 0; at < lines.length;) {
        size_t length = strcspn(lines.data + at, "\n");
        json_put_string_n(out, NULL, lines.data + at, length);
        at += length + 1;
    }
    pthread_mutex_unlock(&lock);
    json_close(out, ']');
}

void warnings_drop(void)
{
    log_on_warning(NULL);
    pthread_mutex_lock(&lock);
    text_free(&lines);
    pthread_mutex_unlock(&lock);
}
