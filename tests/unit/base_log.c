#include <stdlib.h>

#include "base/log.h"
#include "scratch.h"
#include "tap.h"

static int cleared;
static void clear(void)
{
    cleared++;
}

static int again(const char *level, const char *form)
{
    log_setup(level[0] == '-' ? LOG_SILENT : level[0] - '0', form[0] == 'j');
    log_on_line(clear);
    log_warning("low on %s", "disk");
    log_note("two\nlines \"quoted\"");
    log_line("epoch 1");
    log_info("info");
    log_debug("debug");
    log_raw("error", "raw \\ line");
    return (int)log_warnings() * 10 + cleared;
}

static void expect(const char *level, const char *form, int code, const char *want,
                   const char *name)
{
    size_t length;
    is_int(scratch_again(NULL, level, form, "err"), code, name);
    char *got = scratch_get("err", &length);
    is_string(got, want, name);
    free(got);
}

int main(int argc, char **argv)
{
    if (argc == 3)
        return again(argv[1], argv[2]);
    scratch_make();
    expect("-1", "text", 11, "raw \\ line\n", "silent: only lines that are always shown");
    expect("0", "text", 12, "dnn: warning: low on disk\nraw \\ line\n",
           "quiet: warnings, and lines that are always shown");
    expect(
        "1", "text", 14,
        "dnn: warning: low on disk\ndnn: note: two lines \"quoted\"\ndnn: epoch 1\nraw \\ line\n",
        "the default");
    expect("3", "text", 16,
           "dnn: warning: low on disk\ndnn: note: two lines \"quoted\"\ndnn: epoch 1\ndnn: "
           "info\ndnn: debug\n"
           "raw \\ line\n",
           "everything");
    expect("1", "json", 14,
           "{\"level\":\"warning\",\"message\":\"low on disk\"}\n"
           "{\"level\":\"note\",\"message\":\"two lines \\\"quoted\\\"\"}\n"
           "{\"level\":\"info\",\"message\":\"epoch 1\"}\n"
           "{\"level\":\"error\",\"message\":\"raw \\\\ line\"}\n",
           "JSON");
    return done();
}
