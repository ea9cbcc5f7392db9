/* Lanes, shuffles, barriers, flags, asynchronous copies: what they do, and that each misuse is
 * found, in all four orders. */
#include "harness.h"

KERNEL(identify)(uint32_t *out)
{
    out[global_id()] = block_x() << 16 | thread_id();
}

KERNEL(shuffles)(uint32_t *out)
{
    uint32_t lane = lane_id(), *mine = out + thread_id() * 5;
    mine[0] = shuffle(FULL_WARP, lane * 3, (int)(lane + 1) % 32);
    mine[1] = shuffle_xor(FULL_WARP, lane, 5);
    mine[2] = shuffle_down(FULL_WARP, lane, 4);
    mine[3] = ballot(FULL_WARP, lane % 3 == 0);
    mine[4] = (uint32_t)warp_sum((double)lane);
}

KERNEL(half_warp)(uint32_t *out)
{
    unsigned mask = lane_id() < 16 ? 0xffffu : 0xffff0000u;
    if (lane_id() < 16)
        out[thread_id()] = shuffle_xor(mask, thread_id(), 1);
    else
        out[thread_id()] = shuffle_xor(mask, thread_id(), 2);
}

KERNEL(reverse)(float *y, const float *x)
{
    SHARED(float, room, 64);
    DYNAMIC(float, more);
    room[thread_id()] = x[global_id()];
    more[thread_id()] = 1;
    sync_block();
    y[global_id()] = room[63 - thread_id()] + more[63 - thread_id()];
}

KERNEL(meet)(uint32_t *parts, uint32_t *out)
{
    parts[block_x() * block_size() + thread_id()] = block_x() + 1;
    sync_grid();
    uint32_t sum = 0;
    for (unsigned b = 0; b < grid_x(); b++)
        sum += parts[b * block_size() + (thread_id() + 1) % block_size()];
    out[global_id()] = sum;
}

KERNEL(pairs)(uint32_t *parts, uint32_t *out)
{
    parts[global_id()] = block_x() + 1;
    sync_cluster();
    out[global_id()] = parts[(block_x() ^ 1) * block_size() + thread_id()];
}

KERNEL(chain)(uint32_t *flag, uint32_t *value)
{
    if (thread_id() == 0) {
        spin_until(flag, block_x());
        *value = block_x() == 0 ? 1 : *value * 2 + 1;
        publish(flag, block_x() + 1);
    }
}

KERNEL(last_adds)(uint32_t *counter, uint32_t *parts, uint32_t *sum)
{
    SHARED(uint32_t, last, 1);
    parts[global_id()] = (uint32_t)global_id();
    sync_block();
    if (thread_id() == 0)
        *last = arrive(counter) == grid_x() - 1;
    sync_block();
    if (*last && thread_id() == 0) {
        uint32_t s = 0;
        for (unsigned i = 0; i < grid_x() * block_size(); i++)
            s += parts[i];
        *sum = s;
    }
}

KERNEL(copies)(float *y, const float *x)
{
    SHARED(float, room, 2 * 128);
    copy_async<16>(room + 4 * thread_id(), x + 4 * thread_id());
    copy_commit();
    copy_async<4>(room + 128 + thread_id(), x + thread_id());
    copy_commit();
    copy_wait<1>();
    sync_block();
    float v = room[127 - thread_id()];
    copy_wait<0>();
    sync_block();
    y[thread_id()] = v + room[128 + (thread_id() + 1) % 32];
}

/* --- misuse --- */

KERNEL(two_barriers)(uint32_t *out)
{
    if (thread_id() < 32)
        sync_block();
    else
        sync_block();
    out[thread_id()] = 1;
}
KERNEL(left_early)(uint32_t *out)
{
    if (thread_id() == 7)
        return;
    sync_block();
    out[thread_id()] = 1;
}
KERNEL(missing_lane)(uint32_t *out)
{
    if (lane_id() != 31)
        out[thread_id()] = shuffle_xor(FULL_WARP, thread_id(), 1);
}
KERNEL(not_named)(uint32_t *out)
{
    if (lane_id() < 8)
        out[thread_id()] = shuffle(0xffu, thread_id(), 9);
}
KERNEL(waits_for_ever)(uint32_t *flag)
{
    spin_until(flag, 7);
}
KERNEL(leaves_copies)(const float *x)
{
    SHARED(float, room, 32);
    copy_async<4>(room + thread_id(), x + thread_id());
    copy_commit();
}
KERNEL(reads_early)(float *y, const float *x)
{
    SHARED(float, room, 32);
    copy_async<4>(room + thread_id(), x + thread_id());
    copy_commit();
    y[thread_id()] = room[thread_id()];
    copy_wait<0>();
}
KERNEL(copies_elsewhere)(float *y, const float *x)
{
    copy_async<4>(y + thread_id(), x + thread_id());
    copy_commit();
    copy_wait<0>();
}

static void expect(enum finding kind, const char *text, const char *name)
{
    unsigned n = emulate_found(kind);
    if (!ok(n > 0 && strstr(emulate_last(), text) && emulate_findings() == 0, "%s", name))
        printf("#   %u of its kind, %u others, last: %s\n", n, emulate_findings(), emulate_last());
}

static void test_misuse(unsigned order)
{
    uint32_t zero = 0, *flag = device_array(&zero, 1), *out = device_empty<uint32_t>(64);
    float *x = device_numbers(3, 64, NULL), *y = device_empty<float>(64);
    char name[80];
#define EXPECT(kind, text, what)                                                                   \
    snprintf(name, sizeof name, "order %u: " what, order);                                         \
    expect(kind, text, name)
    LAUNCH(two_barriers, dim3(1), dim3(64), 0, NULL, out);
    EXPECT(FIND_DIVERGED, "sync_block test_collective.cc", "two barriers on two lines");
    LAUNCH(left_early, dim3(1), dim3(64), 0, NULL, out);
    EXPECT(FIND_DIVERGED, "lane 7 has left", "a lane that leaves before a barrier");
    LAUNCH(missing_lane, dim3(1), dim3(32), 0, NULL, out);
    EXPECT(FIND_DIVERGED, "lane 31 has left", "a lane that the mask names does not come");
    LAUNCH(not_named, dim3(1), dim3(32), 0, NULL, out);
    EXPECT(FIND_LAUNCH, "asks lane 9", "a shuffle from a lane that the mask does not name");
    LAUNCH(waits_for_ever, dim3(1), dim3(32), 0, NULL, flag);
    EXPECT(FIND_DIVERGED, "spin_until test_collective.cc", "a flag that nobody sets");
    LAUNCH(leaves_copies, dim3(1), dim3(32), 0, NULL, x);
    EXPECT(FIND_EARLY, "copies not waited for", "a copy that nobody waits for");
    LAUNCH(copies_elsewhere, dim3(1), dim3(32), 0, NULL, y, x);
    EXPECT(FIND_BOUNDS, "no shared memory", "a copy to device memory");
    LAUNCH(reverse, dim3(1), dim3(48), 64 * 4, NULL, y, x);
    EXPECT(FIND_LAUNCH, "blocks of 48 lanes", "a block that is no multiple of a warp");
}

static void test_right(unsigned order)
{
    uint32_t *out = device_empty<uint32_t>(96), zero = 0;
    LAUNCH(identify, dim3(3), dim3(32), 0, NULL, out);
    bool same = true;
    for (uint32_t i = 0; i < 96; i++)
        same &= out[i] == (i / 32 << 16 | i % 32);
    ok(same, "order %u: lanes and blocks know themselves", order);

    out = device_empty<uint32_t>(64 * 5);
    LAUNCH(shuffles, dim3(1), dim3(64), 0, NULL, out);
    same = true;
    for (uint32_t i = 0; i < 64; i++) {
        uint32_t lane = i % 32, *p = out + i * 5;
        same &= p[0] == (lane + 1) % 32 * 3 && p[1] == (lane ^ 5) &&
                p[2] == (lane + 4 < 32 ? lane + 4 : lane) && p[3] == 0x49249249 && p[4] == 496;
    }
    ok(same, "order %u: shuffles, ballot, the sum of a warp", order);

    LAUNCH(half_warp, dim3(1), dim3(32), 0, NULL, out);
    same = true;
    for (uint32_t i = 0; i < 32; i++)
        same &= out[i] == (i < 16 ? i ^ 1 : i ^ 2);
    ok(same, "order %u: half a warp by itself", order);

    float *host, *x = device_numbers(1, 128, &host), *y = device_empty<float>(128);
    LAUNCH(reverse, dim3(2), dim3(64), 64 * 4, NULL, y, x);
    same = true;
    for (uint32_t i = 0; i < 128; i++)
        same &= y[i] == host[i / 64 * 64 + 63 - i % 64] + 1;
    ok(same, "order %u: shared and dynamic memory across a barrier", order);

    uint32_t *parts = device_empty<uint32_t>(4 * 64);
    out = device_empty<uint32_t>(4 * 64);
    LAUNCH_GRID(meet, dim3(4), dim3(64), 0, NULL, parts, out);
    same = true;
    for (uint32_t i = 0; i < 256; i++)
        same &= out[i] == 10;
    ok(same, "order %u: a grid meets", order);

    LAUNCH_CLUSTER(pairs, dim3(4), dim3(64), 0, 2, NULL, parts, out);
    same = true;
    for (uint32_t i = 0; i < 256; i++)
        same &= out[i] == (i / 64 ^ 1) + 1;
    ok(same, "order %u: a cluster meets", order);

    uint32_t *flag = device_array(&zero, 1), *value = device_array(&zero, 1);
    LAUNCH_GRID(chain, dim3(5), dim3(32), 0, NULL, flag, value);
    is_int(*value, 31, "blocks wait for flags of each other");

    uint32_t *counter = device_array(&zero, 1);
    LAUNCH(last_adds, dim3(4), dim3(64), 0, NULL, counter, parts, value);
    is_int(*value, 255 * 128, "the last block to arrive adds what all have left");

    LAUNCH(copies, dim3(1), dim3(32), 0, NULL, y, x);
    same = true;
    for (uint32_t i = 0; i < 32; i++)
        same &= y[i] == host[127 - i] + host[(i + 1) % 32];
    ok(same, "order %u: asynchronous copies by groups", order);
    is_int(emulate_findings(), 0, "nothing is found in kernels that are right");
}

int main(void)
{
    bool early = false;
    for (EACH_ORDER(order)) {
        test_right(order);
        emulate_quiet(true);
        test_misuse(order);
        /* the value itself is late in some order, whatever the build */
        float *x = device_numbers(3, 64, NULL), *y = device_empty<float>(64);
        LAUNCH(reads_early, dim3(1), dim3(32), 0, NULL, y, x);
        early |= memcmp(x, y, 32 * 4) != 0;
        is_int(emulate_found(FIND_EARLY) > 0, shadow_present, "a read before copy_wait");
        emulate_quiet(false);
        emulate_found(FIND_UNINITIALISED);
        device_drop_all();
    }
    ok(early, "a read before copy_wait sees old bytes in some order");
    return done();
}
