/* sys.h - the system calls of base/file, one wrapper each, with a test hook: repeated after EINTR,
 * waits on EAGAIN. Each returns 0 or an errno. */
#ifndef DNN_BASE_SYS_H
#define DNN_BASE_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SYS_HERE UINT64_MAX /* an offset: wherever the descriptor stands */

int sys_open(const char *path, int flags, mode_t mode, int *fd);
/* A file in memory, without a name; a program that this one executes inherits it. */
int sys_memory(const char *label, int *fd);
/* One read of at most `room` bytes; *got = 0 at the end. */
int sys_read(int fd, void *bytes, size_t room, uint64_t offset, size_t *got);
/* Would a read return at once: bytes, the end or an error? Waits for that, < 0: without limit. */
bool sys_ready(int fd, int milliseconds);
/* All bytes; after a failure *done tells how many went out. */
int sys_write(int fd, const void *bytes, size_t length, uint64_t offset, size_t *done);
int sys_truncate(int fd, uint64_t length); /* counted as a write */
int sys_fsync(int fd);
int sys_rename(const char *from, const char *to);
int sys_unlink(const char *path);
int sys_close(int fd); /* the descriptor is gone, also after an error */

#endif
