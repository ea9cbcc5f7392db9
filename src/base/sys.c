/* sys.c - see sys.h. */
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fault.h"

#define AT_ONCE ((size_t)1 << 30) /* the kernel takes a little less than 2 GiB in one call */

/* The call should be made again. A descriptor we were given may be set to non-blocking: wait until
 * it is ready. */
static bool again(int fd, short events)
{
    if (errno == EINTR)
        return true;
    if (errno != EAGAIN) /* on Linux the same number as EWOULDBLOCK */
        return false;
    struct pollfd p = {.fd = fd, .events = events};
    return poll(&p, 1, -1) >= 0 || errno == EINTR;
}

int sys_open(const char *path, int flags, mode_t mode, int *fd)
{
    int error = fault_hit(FAULT_OPEN);
    if (error)
        return error;
    do
        *fd = open(path, flags | O_CLOEXEC | O_NOCTTY, mode);
    while (*fd < 0 && errno == EINTR);
    return *fd < 0 ? errno : 0;
}

int sys_memory(const char *label, int *fd)
{
    int error = fault_hit(FAULT_OPEN);
    if (error)
        return error;
    *fd = memfd_create(label, 0);
    return *fd < 0 ? errno : 0;
}

int sys_read(int fd, void *bytes, size_t room, uint64_t offset, size_t *got)
{
    *got = 0;
    int error = fault_hit(FAULT_READ);
    if (error)
        return error;
    if (room > AT_ONCE)
        room = AT_ONCE;
    for (;;) {
        ssize_t n =
            offset == SYS_HERE ? read(fd, bytes, room) : pread(fd, bytes, room, (off_t)offset);
        if (n >= 0) {
            *got = (size_t)n;
            return 0;
        }
        if (!again(fd, POLLIN))
            return errno;
    }
}

bool sys_ready(int fd, int milliseconds)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int ready;
    do
        ready = poll(&p, 1, milliseconds);
    while (ready < 0 && errno == EINTR && milliseconds < 0);
    return ready > 0 || (ready < 0 && errno != EINTR); /* the read reports the fault */
}

int sys_write(int fd, const void *bytes, size_t length, uint64_t offset, size_t *done)
{
    const char *at = bytes;
    *done = 0;
    while (*done < length) {
        int error = fault_hit(FAULT_WRITE);
        if (error)
            return error;
        size_t want = length - *done < AT_ONCE ? length - *done : AT_ONCE;
        ssize_t n = offset == SYS_HERE ? write(fd, at + *done, want)
                                       : pwrite(fd, at + *done, want, (off_t)(offset + *done));
        if (n > 0)
            *done += (size_t)n;
        else if (n == 0)
            return EIO; /* a write of some bytes that wrote none would be repeated for ever */
        else if (!again(fd, POLLOUT))
            return errno;
    }
    return 0;
}

int sys_truncate(int fd, uint64_t length)
{
    int error = fault_hit(FAULT_WRITE);
    if (error)
        return error;
    int rc;
    do
        rc = ftruncate(fd, (off_t)length);
    while (rc != 0 && errno == EINTR);
    return rc == 0 ? 0 : errno;
}

int sys_fsync(int fd)
{
    int error = fault_hit(FAULT_FSYNC);
    if (error)
        return error;
    int rc;
    do
        rc = fsync(fd);
    while (rc != 0 && errno == EINTR);
    return rc == 0 ? 0 : errno;
}

int sys_rename(const char *from, const char *to)
{
    int error = fault_hit(FAULT_RENAME);
    if (error)
        return error;
    return rename(from, to) == 0 ? 0 : errno;
}

int sys_unlink(const char *path)
{
    int error = fault_hit(FAULT_UNLINK);
    if (error)
        return error;
    return unlink(path) == 0 ? 0 : errno;
}

int sys_close(int fd)
{
    int error = fault_hit(FAULT_CLOSE);
    /* Linux frees the descriptor even when close reports EINTR: calling it again could close
     * another's. */
    if (close(fd) != 0 && errno != EINTR && !error)
        error = errno;
    return error;
}
