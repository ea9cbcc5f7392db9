/* parity_cards.c - two cards in one process. A network trains on each, by turns and in two threads,
 * with the bytes of a training by itself; when one card fails, the other goes on. */
#include <pthread.h>
#include <string.h>

#include "netcase.h"
#include "parity.h"
#include "base/process/thread.h"

enum { CARDS = 2, EPOCHS = 3, STEPS = 4 };
struct training {
    const char *device;
    struct netcase c;
    bool good;
    uint64_t params;
    real *p; /* the result; NULL after a failure */
};

static void open_training(struct training *t)
{
    t->c = case_everything("cuda");
    t->c.device = t->device;
    t->good = case_ready(&t->c);
}

static void open_epoch(struct training *t, uint32_t number)
{
    t->good =
        t->good && network_epoch(t->c.network, number, &(struct hyper){0.01, 0, 0}, 1, &t->c.e);
    if (t->good && !t->c.step)
        t->c.step = machine_record(t->c.machine, network_issue_step, t->c.network);
}

static void issue_step(struct training *t)
{
    if (t->good)
        machine_play(t->c.machine, t->c.step, network_feed(t->c.network, 1));
}

static void close_training(struct training *t)
{
    if (t->good) {
        t->params = network_model(t->c.network)->params;
        t->p = mem_zero(t->params + 1, sizeof *t->p);
        t->good = network_get(t->c.network, &(struct network_state){.params = t->p}, &t->c.e);
    }
    case_close(&t->c);
}

/* Their steps by turns: both cards have work when one of them is waited for. */
static void train(struct training *t, int count)
{
    for (int i = 0; i < count; i++)
        open_training(&t[i]);
    for (uint32_t epoch = 0; epoch < EPOCHS; epoch++) {
        for (int i = 0; i < count; i++)
            open_epoch(&t[i], epoch);
        for (int step = 0; step < STEPS; step++)
            for (int i = 0; i < count; i++)
                issue_step(&t[i]);
        for (int i = 0; i < count; i++)
            t[i].good = t[i].good && machine_wait(t[i].c.machine, 30, &t[i].c.e);
    }
    for (int i = 0; i < count; i++)
        close_training(&t[i]);
}

static void *train_one(void *training)
{
    threads_alone(true);
    train(training, 1);
    return NULL;
}

static const char *compare(const struct training *t, const struct training *want)
{
    if (!t->good || !want->good)
        return t->good ? want->c.e.what : t->c.e.what;
    bool same = t->params == want->params &&
                memcmp(t->p, want->p, t->params * sizeof *t->p) == 0;
    return same ? "" : "other bytes";
}

static void result(struct parity *p, const char *name, const struct training *t,
                   const struct training *want)
{
    for (int i = 0; i < CARDS; i++) {
        char text[80];
        snprintf(text, sizeof text, "%s: card %s", name, t[i].device);
        parity_result(p, text, 0, 0, compare(&t[i], &want[i]));
    }
}

static void drop(struct training *t)
{
    for (int i = 0; i < CARDS; i++)
        mem_free(t[i].p);
}

void parity_cards(struct parity *p, bool breaks)
{
    struct training alone[CARDS] = {{.device = "0"}, {.device = "1"}};
    struct training turns[CARDS] = {{.device = "0"}, {.device = "1"}};
    train(&alone[0], 1);
    if (breaks) { /* the second card, in its training */
        train(turns, CARDS);
        parity_result(p, "the other card fails: card 0", 0, 0, compare(&turns[0], &alone[0]));
        const char *why = turns[1].good                              ? "no failure"
                          : turns[1].c.e.id != ERR_MACHINE_FAULT     ? turns[1].c.e.what
                          : strstr(turns[1].c.e.what, "GPU 1 (") ? ""
                                                                     : "another card is named";
        parity_result(p, "a card fails: card 1", 0, 0, why);
        drop(alone);
        drop(turns);
        return;
    }
    train(&alone[1], 1);
    train(turns, CARDS);
    result(p, "by turns, bit for bit", turns, alone);
    drop(turns);
    struct training beside[CARDS] = {{.device = "0"}, {.device = "1"}};
    pthread_t threads[CARDS];
    for (int i = 0; i < CARDS; i++)
        pthread_create(&threads[i], NULL, train_one, &beside[i]);
    for (int i = 0; i < CARDS; i++)
        pthread_join(threads[i], NULL);
    result(p, "in two threads, bit for bit", beside, alone);
    drop(beside);
    drop(alone);
}
