/* What the shadow finds: races within a block and between blocks, a barrier left out, memory read
 * before anybody wrote it, bytes out of bounds, copies disturbed; each provoked here. Under
 * AddressSanitizer only the bounds can be seen, as a child that dies. */
#include "harness.h"

KERNEL(no_barrier)(float *y, const float *x)
{
    SHARED(float, room, 64);
    room[thread_id()] = x[thread_id()];
    y[thread_id()] = room[63 - thread_id()];
}
KERNEL(no_second_barrier)(float *y, const float *x)
{
    SHARED(float, room, 64);
    for (int i = 0; i < 2; i++) {
        room[thread_id()] = x[64 * i + thread_id()];
        sync_block();
        y[64 * i + thread_id()] = room[63 - thread_id()];
    }
}
KERNEL(warp_too_weak)(float *y, const float *x)
{
    SHARED(float, room, 64);
    room[thread_id()] = x[thread_id()];
    sync_warp(FULL_WARP);
    y[thread_id()] = room[63 - thread_id()];
}
KERNEL(all_write)(float *y)
{
    *y = 1;
}
KERNEL(blocks_write)(float *y)
{
    if (thread_id() == 0)
        y[block_x() / 2] = 1;
}
KERNEL(blocks_read)(float *y, float *x)
{
    if (thread_id() == 0)
        y[block_x()] = x[(block_x() + 1) % grid_x()];
    x[block_x()] = 1;
}
KERNEL(grid_without_meeting)(float *y, float *x)
{
    x[global_id()] = 1;
    sync_block();
    y[global_id()] = x[(global_id() + block_size()) % global_count()];
}
KERNEL(pairs_by_block)(float *y, float *x)
{
    x[global_id()] = 1;
    sync_block();
    y[global_id()] = x[(global_id() ^ 32)];
}
KERNEL(clusters_mixed)(float *y, float *x)
{
    x[global_id()] = 1;
    sync_cluster();
    y[global_id()] = x[(global_id() + 64) % global_count()];
}
KERNEL(published_too_early)(uint32_t *flag, float *x, float *y)
{
    if (block_x() == 0) {
        x[thread_id()] = 1;
        if (thread_id() == 0)
            publish(flag, 1); /* others have not finished: a sync_block is missing */
    } else {
        if (thread_id() == 0)
            spin_until(flag, 1);
        sync_block();
        y[thread_id()] = x[thread_id()];
    }
}
KERNEL(shared_unwritten)(float *y)
{
    SHARED(float, room, 33);
    room[thread_id()] = 1;
    sync_block();
    y[thread_id()] = room[thread_id() + 1];
}
KERNEL(read_all)(float *y, const float *x)
{
    y[thread_id()] = x[thread_id()];
}
KERNEL(source_overwritten)(float *x)
{
    SHARED(float, room, 32);
    copy_async<4>(room + thread_id(), x + thread_id());
    copy_commit();
    x[thread_id()] = 5;
    copy_wait<0>();
}
KERNEL(no_barrier_after_wait)(float *y, const float *x)
{
    SHARED(float, room, 32);
    copy_async<4>(room + thread_id(), x + thread_id());
    copy_commit();
    copy_wait<0>();
    y[thread_id()] = room[31 - thread_id()];
}
KERNEL(beyond_shared)(float *y)
{
    SHARED(float, room, 32);
    SHARED(float, other, 32);
    room[thread_id() + 1] = 1;
    other[thread_id()] = 2;
    y[thread_id()] = other[thread_id()];
}
KERNEL(right)(float *y, const float *x)
{
    SHARED(float, room, 64);
    room[thread_id()] = x[thread_id()];
    sync_block();
    y[thread_id()] = room[63 - thread_id()];
}

static void expect(enum finding kind, const char *name, unsigned order)
{
    unsigned n = emulate_found(kind);
    if (!ok(n > 0 && emulate_findings() == 0, "order %u: %s", order, name))
        printf("#   %u of its kind, %u others, last: %s\n", n, emulate_findings(), emulate_last());
}

static void test_found(unsigned order)
{
    float *x = device_numbers(1, 128, NULL), *y = device_empty<float>(128);
    float *fresh = device_empty<float>(128);
    uint32_t zero = 0, *flag = device_array(&zero, 1);
    LAUNCH(no_barrier, dim3(1), dim3(64), 0, NULL, y, x);
    emulate_found(FIND_UNINITIALISED);
    expect(FIND_RACE, "no barrier between write and read", order);
    LAUNCH(no_second_barrier, dim3(1), dim3(64), 0, NULL, y, x);
    expect(FIND_RACE, "the next round writes what is still read", order);
    LAUNCH(warp_too_weak, dim3(1), dim3(64), 0, NULL, y, x);
    emulate_found(FIND_UNINITIALISED);
    expect(FIND_RACE, "sync_warp where sync_block is needed", order);
    LAUNCH(all_write, dim3(1), dim3(32), 0, NULL, y);
    expect(FIND_RACE, "all lanes write one word", order);
    LAUNCH(blocks_write, dim3(4), dim3(32), 0, NULL, y);
    expect(FIND_RACE, "two blocks write one word", order);
    LAUNCH(blocks_read, dim3(4), dim3(32), 0, NULL, y, x);
    expect(FIND_RACE, "a block reads what another writes", order);
    shadow_written(x, 512);
    LAUNCH_GRID(grid_without_meeting, dim3(2), dim3(32), 0, NULL, y, x);
    expect(FIND_RACE, "sync_block where sync_grid is needed", order);
    LAUNCH_CLUSTER(pairs_by_block, dim3(2), dim3(32), 0, 2, NULL, y, x);
    expect(FIND_RACE, "sync_block where sync_cluster is needed", order);
    LAUNCH_CLUSTER(clusters_mixed, dim3(4), dim3(32), 0, 2, NULL, y, x);
    expect(FIND_RACE, "sync_cluster where sync_grid is needed", order);
    LAUNCH_GRID(published_too_early, dim3(2), dim3(64), 0, NULL, flag, x, y);
    expect(FIND_RACE, "a flag published before the block has met", order);
    LAUNCH(shared_unwritten, dim3(1), dim3(32), 0, NULL, y);
    expect(FIND_UNINITIALISED, "shared memory never written", order);
    LAUNCH(read_all, dim3(1), dim3(32), 0, NULL, y, fresh);
    expect(FIND_UNINITIALISED, "device memory never written", order);
    LAUNCH(source_overwritten, dim3(1), dim3(32), 0, NULL, x);
    expect(FIND_EARLY, "the source of a copy overwritten", order);
    LAUNCH(no_barrier_after_wait, dim3(1), dim3(32), 0, NULL, y, x);
    emulate_found(FIND_EARLY);
    emulate_found(FIND_UNINITIALISED);
    expect(FIND_RACE, "another lane's copy without a barrier", order);
    LAUNCH(read_all, dim3(1), dim3(256), 0, NULL, y, x);
    emulate_found(FIND_RACE);
    expect(FIND_BOUNDS, "device memory out of bounds", order);
    LAUNCH(beyond_shared, dim3(1), dim3(32), 0, NULL, y);
    emulate_found(FIND_RACE);
    expect(FIND_BOUNDS, "one past the end of SHARED", order);
    ok(strstr(emulate_last(), "beyond_shared") != NULL, "the finding names the kernel");
}

static void test_counts(void)
{
    float *x = device_numbers(1, 64, NULL), *y = device_empty<float>(64);
    emulate_counts = {};
    LAUNCH(right, dim3(1), dim3(64), 0, NULL, y, x);
    is_int(emulate_counts.device_read, 256, "bytes read from the device");
    is_int(emulate_counts.device_written, 256, "bytes written to the device");
    is_int(emulate_counts.shared_read + emulate_counts.shared_written, 512, "shared bytes");
    is_int(emulate_counts.collectives, 64, "collectives");
    is_int(emulate_findings(), 0, "a right kernel has no findings");
    ok(device_written(y, 256), "what it wrote is known to be written");
    LAUNCH(no_barrier, dim3(1), dim3(64), 0, NULL, y, x);
    ok(strstr(emulate_last(), "test_shadow.cc:") != NULL || getenv("NO_ADDR2LINE"),
       "a race names its line");
    emulate_found(FIND_RACE);
    emulate_found(FIND_UNINITIALISED);
}

static void overrun_device(void)
{
    float *x = device_numbers(1, 64, NULL), *y = device_empty<float>(256);
    LAUNCH(read_all, dim3(1), dim3(96), 0, NULL, y, x);
}
static void overrun_shared(void)
{
    LAUNCH(beyond_shared, dim3(1), dim3(32), 0, NULL, device_empty<float>(32));
}
KERNEL(too_deep)(float *y, uint32_t n)
{
    volatile float room[8192];
    for (uint32_t i = 0; i < 8192; i++)
        room[i] = (float)(i + n);
    y[0] = room[n];
    if (n) {
        sync_warp(FULL_WARP);
        too_deep(y, n - 1);
    }
}
static void overrun_stack(void)
{
    LAUNCH(too_deep, dim3(1), dim3(32), 0, NULL, device_empty<float>(32), 20);
}
static void overrun_nothing(void)
{
    LAUNCH(right, dim3(1), dim3(64), 0, NULL, device_empty<float>(64), device_numbers(1, 64, NULL));
}

int main(void)
{
    ok(dies(overrun_stack), "a lane that needs more stack than it has dies");
    if (!shadow_present) {
        ok(dies(overrun_device), "a read beyond device memory dies");
        ok(dies(overrun_shared), "a write beyond SHARED dies");
        ok(!dies(overrun_nothing), "a right kernel does not");
        return done();
    }
    emulate_quiet(true);
    for (EACH_ORDER(order)) {
        test_found(order);
        device_drop_all();
    }
    test_counts();
    return done();
}
