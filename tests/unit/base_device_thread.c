/* Work beside the thread that waits for it: begun without waiting, ended when it is done, always on
 * the same thread; given up, it takes nobody with it. */
#include "tap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "base/process/device_thread.h"

static atomic_int goes, did;
static pthread_t on;

static void wait_for_go(void *number)
{
    on = pthread_self();
    while (!atomic_load(&goes))
        ;
    atomic_store(&did, *(int *)number);
}

static void park(void *unused)
{
    (void)unused;
    for (;;)
        pause();
}

int main(void)
{
    struct err e = {0};
    int first = 1, second = 2;
    ok(device_thread_begin(wait_for_go, &first) && !atomic_load(&did), "begun, and not waited for");
    atomic_store(&goes, 1);
    ok(device_thread_end(&e) && atomic_load(&did) == 1, "the end is waited for");
    pthread_t was = on;
    ok(device_thread_run(wait_for_go, &second, &e) && atomic_load(&did) == 2, "both at once");
    ok(pthread_equal(was, on) && !pthread_equal(on, pthread_self()), "on the same thread");
    struct err why = {0};
    err_set(&why, ERR_MACHINE_FAULT, "it hangs");
    ok(!device_thread_give_up(&why), "nothing runs that could be given up");
    ok(device_thread_begin(park, NULL) && device_thread_give_up(&why), "given up by one who knows");
    ok(!device_thread_end(&e) && strcmp(e.what, "it hangs") == 0, "is told to who waits");
    ok(device_thread_begin(wait_for_go, &first) && !device_thread_end(&e),
       "and to whoever comes later");
    return done();
}
