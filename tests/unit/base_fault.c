#include <errno.h>
#include <stdlib.h>

#include "base/fault.h"
#include "scratch.h"
#include "tap.h"

/* Five writes; the exit code has a bit for each that failed, or the errno of the third. */
static int again(const char *what)
{
    int bits = 0, third = 0;
    if (what[0] == 'c') { /* calls by name: of the second Malloc */
        fault_hit_call(FAULT_CUDA, "Malloc");
        int poll = fault_hit_poll(FAULT_CUDA, "EventQuery");
        if (poll)
            return poll + 1;
        if (fault_hit_call(FAULT_CUDA, "Free"))
            return 1;
        return fault_hit_call(FAULT_CUDA, "Malloc");
    }
    fault_hit(FAULT_READ);
    for (int i = 0; i < 5; i++) {
        int error = fault_hit(FAULT_WRITE);
        bits |= (error != 0) << i;
        if (i == 2)
            third = error;
    }
    return what[0] == 'b' ? bits : third;
}

static void notes(const char *fault, const char *want, const char *name)
{
    size_t length;
    is_int(scratch_again(fault, "b", NULL, "err"), 0, name);
    char *got = scratch_get("err", &length);
    is_string(got, want, name);
    free(got);
}

int main(int argc, char **argv)
{
    if (argc == 2)
        return again(argv[1]);
    scratch_make();
    is_int(scratch_again(NULL, "b", NULL, NULL), 0, "nothing set, nothing fails");
    is_int(scratch_again("write:3", "b", NULL, NULL), 4, "the third write alone");
    is_int(scratch_again("write:3+", "b", NULL, NULL), 28, "the third and all later ones");
    is_int(scratch_again("write:1,write:5", "b", NULL, NULL), 17, "two rules");
    is_int(scratch_again("read:3", "b", NULL, NULL), 0, "another kind is not touched");
    is_int(scratch_again("write:3", "e", NULL, NULL), ENOSPC, "a fitting errno");
    is_int(scratch_again("write:3:EIO", "e", NULL, NULL), EIO, "an errno by name");
    is_int(scratch_again("write:3+:27", "e", NULL, NULL), 27, "an errno by number");
    is_int(scratch_again("kill:write:2", "b", NULL, NULL), 128 + 9, "a kill");
    is_int(scratch_again("cuda.Malloc:2:2", "c", NULL, NULL), 2, "the second call of a name");
    is_int(scratch_again("cuda.cudaMalloc:2:46", "c", NULL, NULL), 46, "its whole name");
    is_int(scratch_again("cuda.Free:2", "c", NULL, NULL), 0, "another name counts for itself");
    is_int(scratch_again("cuda:2:35", "c", NULL, NULL), 1, "any name: polls are not counted");
    is_int(scratch_again("cuda.EventQuery:1:35", "c", NULL, NULL), 36, "but by their name");
    notes("count",
          "dnn: fault counts alloc=0 open=0 read=1 write=5 fsync=0 rename=0 close=0 unlink=0 "
          "thread=0 play=0 fetch=0 cuda=0\n",
          "counts at the end");
    notes("write", "dnn: note: DNN_FAULT: \"write\" is not [kill:]KIND:N[+][:ERRNO]: ignored\n",
          "no number");
    notes("wrote:1", "dnn: note: DNN_FAULT: \"wrote:1\" is not [kill:]KIND:N[+][:ERRNO]: ignored\n",
          "no such kind");
    notes("write:0", "dnn: note: DNN_FAULT: \"write:0\" is not [kill:]KIND:N[+][:ERRNO]: ignored\n",
          "from 1");
    notes("write:1:EWHAT",
          "dnn: note: DNN_FAULT: \"write:1:EWHAT\" is not [kill:]KIND:N[+][:ERRNO]: ignored\n",
          "no such errno");
    return done();
}
