/* exitcode.h - the frozen exit codes, EXIT_DONE to EXIT_SIGTERM: exitcode.def. */
#ifndef DNN_BASE_EXITCODE_H
#define DNN_BASE_EXITCODE_H

enum exit_code {
#define EXIT_CODE(name, number, words) EXIT_##name = (number),
#include "base/exitcode.def"
#undef EXIT_CODE
};

#endif
