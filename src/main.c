/* main.c - hands argv to the command line. */
#include "base/process/stop.h"
#include "cli/cli.h"

/* The loader calls this before any constructor: SIGUSR1 and SIGUSR2 would end a process that has
 * no handlers yet. */
static void block_signals(int argc, char **argv, char **environment)
{
    (void)argc;
    (void)argv;
    (void)environment;
    stop_block();
}
__attribute__((section(".preinit_array"), used)) static void (*const first)(int, char **, char **) =
    block_signals;

int main(int argc, char **argv)
{
    return cli_main(argc, argv);
}
