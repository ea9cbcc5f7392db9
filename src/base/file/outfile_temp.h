/* outfile_temp.h - the name of a file while it is written: .NAME.dnn-tmp-PIDHEX in the folder of
 * NAME, with -TURN, a random number, after it. NAME is cut so that the whole stays a legal name.
 * Private to outfile*.c. */
#ifndef DNN_BASE_OUTFILE_TEMP_H
#define DNN_BASE_OUTFILE_TEMP_H

char *outfile_temp(const char *path, unsigned turn); /* of this process; mem_free */

#endif
