/* choose_select.c - which machine serves, and what is said about it. Each case runs in a process of
 * its own with its variables. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/card.h"
#include "base/log.h"
#include "choose/select.h"
#include "scratch.h"
#include "tap.h"

struct answer {
    bool good;
    int id, exit;
    unsigned warnings;
    char requested[16], used[16], reason[256], what[512], said[1024];
};

static void text_of(char *to, size_t room, const char *from)
{
    size_t length = from ? strnlen(from, room - 1) : 0;
    if (length)
        memcpy(to, from, length);
    to[length] = '\0';
}

static struct answer ask(const char *word, int fallback, const char *name, const char *value)
{
    struct answer a = {0};
    int ends[2];
    fflush(stdout);
    if (pipe(ends) != 0)
        return a;
    pid_t pid = fork();
    if (pid == 0) {
        static const char *const names[] = {"MODEL_BACKEND", "ALL_GPU", "GPU_BACKEND",
                                            "CUDA_VISIBLE_DEVICES", "DNN_TRAIN_GPU"};
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
            unsetenv(names[i]);
        if (name)
            setenv(name, value, 1);
        if (!freopen(scratch("said"), "w", stderr))
            _exit(1);
        char config[512];
        snprintf(
            config, sizeof config,
            "{\"task\":\"binary\",\"data\":{\"train\":\"t.csv\",\"target\":\"y\","
                 "\"columns\":{\"x\":\"numeric\"}},"
            "\"backend\":{\"name\":\"%s\",\"fallback\":\"%s\",\"precision\":\"%s\"}}",
            word, fallback ? "none" : "cpu", strcmp(word, "dnn") == 0 ? "fp16" : "auto");
        struct err e = {0};
        struct overrides o = {.threads = -1, .batch_size = -1, .time_limit_s = -1};
        struct config *c = config_parse(config, strlen(config), "c.json", &o, &e);
        struct selection s = {0};
        a.good =
            c && select_backend(&c->backend, JOB_TRAIN, c->settings, c->setting_count, &s, &e);
        if (a.good) /* which says what is computed in */
            machine_close(select_open(&s, &c->backend, false, &e));
        a.good = a.good && strcmp(s.precision, "fp32") == 0;
        a.id = (int)e.id;
        a.exit = (int)err_exit(&e);
        a.warnings = log_warnings();
        text_of(a.requested, sizeof a.requested, s.requested);
        text_of(a.used, sizeof a.used, s.used);
        text_of(a.reason, sizeof a.reason, s.reason);
        text_of(a.what, sizeof a.what, e.what);
        config_free(c);
        _exit(write(ends[1], &a, sizeof a) == sizeof a ? 0 : 1);
    }
    close(ends[1]);
    if (read(ends[0], &a, sizeof a) != sizeof a)
        a = (struct answer){0};
    close(ends[0]);
    waitpid(pid, NULL, 0);
    size_t length;
    char *said = scratch_get("said", &length);
    text_of(a.said, sizeof a.said, said);
    free(said);
    return a;
}

int main(void)
{
    scratch_make();
    struct answer a = ask("dnn_cpu", 0, NULL, NULL);
    ok(a.good && strcmp(a.requested, "dnn_cpu") == 0 && strcmp(a.used, "dnn_cpu") == 0,
       "dnn_cpu is the CPU");
    is_string(a.said, "dnn: dnn_cpu: Using CPU (GPU disabled)\n", "and says so");
    a = ask("dnn", 0, NULL, NULL);
    ok(a.good && strcmp(a.requested, "dnn_cpu") == 0 && strstr(a.said, "fp32"),
       "dnn is dnn_cpu; fp16 is fp32 there");
    a = ask("auto", 0, NULL, NULL);
    ok(a.good && strcmp(a.requested, "auto") == 0 && a.warnings == 0,
       "auto is the CPU without a warning");
    static const char said[] = "dnn: auto: using CPU (this build has no GPU kernels)\n";
    is_string(a.said, card_present() ? said : "", "which is said where the machine has a GPU");
    a = ask("dnn_gpu", 0, NULL, NULL);
    ok(a.good && strcmp(a.requested, "dnn_gpu") == 0 && strcmp(a.used, "dnn_cpu") == 0,
       "dnn_gpu falls back to the CPU");
    is_string(a.said,
              card_present() ? "dnn: warning: dnn_gpu: requested but unavailable (this build has "
                               "no GPU kernels); using CPU\n"
                             : "dnn: warning: dnn_gpu: requested but unavailable (no GPU is "
                               "visible, and this build has no GPU kernels); using CPU\n",
              "with one loud warning, which names the machine and the build");
    a = ask("dnn_gpu", 1, NULL, NULL);
    ok(!a.good && a.id == ERR_NO_GPU && a.exit == 69, "fallback none: 69");
    ok(strstr(a.what, "no GPU kernels") != NULL, "with the reason");
    a = ask("auto", 0, "CUDA_VISIBLE_DEVICES", "-1");
    ok(a.good && strstr(a.reason, "CUDA_VISIBLE_DEVICES=\"-1\""), "CUDA_VISIBLE_DEVICES is shown");
    a = ask("auto", 0, "GPU_BACKEND", "rocm");
    ok(a.good && a.warnings == 1 && strstr(a.reason, "rocm") && strcmp(a.requested, "rocm") == 0,
       "an unsupported kind is reported as requested, and the CPU serves");
    a = ask("auto", 1, "GPU_BACKEND", "mps");
    ok(!a.good && a.exit == 69, "or 69");
    a = ask("dnn_gpu", 1, "GPU_BACKEND", "cpu");
    ok(a.good && strcmp(a.requested, "dnn_cpu") == 0, "GPU_BACKEND=cpu is the CPU");
    a = ask("dnn_gpu", 1, "DNN_TRAIN_GPU", "false");
    ok(a.good && strcmp(a.requested, "dnn_cpu") == 0, "the job's own switch wins");
    a = ask("dnn_cpu", 0, "ALL_GPU", "true");
    ok(a.good && strcmp(a.requested, "dnn_gpu") == 0, "ALL_GPU asks for the GPU");
    return done();
}
