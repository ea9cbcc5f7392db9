/* exitcode.h - the frozen exit codes. Scripts depend on every number; see README, "Exit codes". */
#ifndef DNN_BASE_EXITCODE_H
#define DNN_BASE_EXITCODE_H

enum exit_code {
    EXIT_DONE = 0,         /* done, and what was written is durable */
    EXIT_USAGE = 64,       /* command line, environment */
    EXIT_DATA = 65,        /* CSV content, or CSV does not fit the model */
    EXIT_NOINPUT = 66,     /* input missing, or a directory */
    EXIT_UNAVAILABLE = 69, /* requested device or feature */
    EXIT_BUG = 70,         /* a bug of ours */
    EXIT_OS = 71,          /* host memory, threads, descriptors */
    EXIT_CANTCREATE = 73,  /* cannot create output */
    EXIT_IO = 74,          /* error while writing or reading */
    EXIT_TRYLATER = 75,    /* stopped by SIGTERM with checkpoint, lock held */
    EXIT_FORMAT = 76,      /* model or checkpoint damaged, foreign or newer */
    EXIT_PERMISSION = 77,  /* permission */
    EXIT_CONFIG = 78,      /* config JSON */
    EXIT_DIVERGED = 80,    /* training diverged; the last good checkpoint is kept */
    EXIT_GPUFAULT = 81,    /* GPU fault or hang with no fallback */
    EXIT_GATE = 82,        /* --require or --better-than is not met */
    EXIT_SIGINT = 130,
    EXIT_SIGPIPE = 141,
    EXIT_SIGTERM = 143
};

#endif
