/* checkpoint_list.h - the files beside an output: its checkpoints, by name, and temporary files of
 * trainings that were killed. */
#ifndef DNN_MODEL_CHECKPOINT_LIST_H
#define DNN_MODEL_CHECKPOINT_LIST_H

#include "base/err.h"

/* The checkpoints beside an output, by step, ascending. A folder that does not exist has none; a
 * folder that cannot be listed is an error (l is empty then). */
struct checkpoint_list {
    int64_t *steps; /* or runs */
    size_t count;
};
bool checkpoint_find(const char *output, struct checkpoint_list *l, struct err *e);
/* The files of finished runs of an ensemble, by number of the run. */
bool checkpoint_find_runs(const char *output, struct checkpoint_list *l, struct err *e);
void checkpoint_list_free(struct checkpoint_list *l);
char *checkpoint_path(const char *output, int64_t step); /* mem_free */
char *checkpoint_run_path(const char *output, uint32_t run); /* of a finished run; mem_free */
/* True: a name of a checkpoint, of a step or a run; the file need not exist. */
bool checkpoint_is(const char *output, const char *path);
/* Removes temporary files that a killed training to this output left: outfile_sweep. */
unsigned checkpoint_sweep(const char *output);

#endif
