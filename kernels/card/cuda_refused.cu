/* cuda_refused.cu - errors of opening: their cause on a real machine and its repair. Sources: the
 * CUDA runtime's reference of error codes, and NVIDIA's guides to drivers, containers and NVSwitch.
 */
#include <stdlib.h>
#include <string.h>

#include "card/cuda_runtime.cuh"

extern "C" {
#include "backend/machine.h"
#include "backend/toolkit.h"
#include "base/text.h"
}

static const struct { int code, cause; const char *what, *help; } refusals[] = {
    {34, REFUSAL_LIBRARY, "the libcuda.so.1 that is found is a toolkit's stub, not the driver's",
     "take the folder \"stubs\" out of LD_LIBRARY_PATH"},
    {803, REFUSAL_LIBRARY,
     "the CUDA driver's library and its module in the kernel are of different versions",
     "restart: the driver was upgraded, and the old module is still loaded (without a restart: "
     "sudo modprobe -r nvidia_drm nvidia_modeset nvidia_uvm nvidia, then sudo modprobe nvidia); in "
     "a container, take the host's libraries (--gpus all), none of its own"},
    {804, REFUSAL_LIBRARY, "CUDA's compatibility package (cuda-compat) does not serve this card",
     "take it out of LD_LIBRARY_PATH, or remove it, so that the driver's own libcuda.so.1 serves: "
     "it is for cards of data centers, and for some drivers"},
    {802, REFUSAL_SETUP, "the cards are not ready: those with NVSwitch wait for their fabric",
     "sudo systemctl start nvidia-fabricmanager, which must be of the driver's own version; "
     "`nvidia-smi -q` shows the state of the fabric"},
    {209, REFUSAL_KERNELS, "this build has no kernels for the architecture of the GPU",
     "build with CUDA_ARCHS=, see `make help`"},
    {221, REFUSAL_COMPILER,
     "this build has no machine code for the GPU, and the driver's compiler "
     "(libnvidia-ptxjitcompiler.so.1) is not found",
     "install all libraries of the driver (in a container "
     "NVIDIA_DRIVER_CAPABILITIES=compute,utility shows them), or build with CUDA_ARCHS= for the "
     "card"},
    {222, REFUSAL_COMPILER,
     "this build has no machine code for the GPU, and the driver is too old to compile its kernels",
     "install a newer driver, or build with CUDA_ARCHS= for the card"}};

/* MPS or a multi-card system is not ready. */
static bool is_setup(cudaError_t code)
{
    return (int)code == 600 || ((int)code >= 805 && (int)code <= 810);
}

/* The oldest driver for this runtime, whose version CUDA writes as 13000 for 13.0. */
static const char *driver_wanted(int runtime)
{
    const struct toolkit *t = toolkit_of((unsigned)(runtime / 1000 * 10 + runtime % 1000 / 10));
    return t ? t->driver : "of these years";
}

static bool driver_too_old(struct cuda_runtime *r, struct err *e)
{
    int driver = 0, runtime = 0;
    call_DriverGetVersion(r, &driver);
    call_RuntimeGetVersion(r, &runtime);
    if (driver == 0) {
        err_set(e, ERR_NO_GPU, "no CUDA driver");
        err_cause(e, REFUSAL_DRIVER);
        return err_help(e, "install the driver of the card; a container needs --gpus all");
    }
    if (driver >= runtime) {
        err_set(e, ERR_NO_GPU, "the CUDA driver calls itself too old, though it serves CUDA %d.%d "
                "and this program needs %d.%d", driver / 1000, driver % 1000 / 10, runtime / 1000,
                runtime % 1000 / 10);
        err_cause(e, REFUSAL_LIBRARY);
        return err_help(e, "restart, if it was upgraded; else parts of two drivers may be "
                           "installed: `ldconfig -p` and LD_LIBRARY_PATH show which libcuda.so.1 "
                           "comes first");
    }
    err_set(e, ERR_NO_GPU, "the CUDA driver serves CUDA %d.%d, this program needs %d.%d",
            driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    err_cause(e, REFUSAL_RUNTIME);
    return err_help(e, "install driver %s or newer, or build with an older toolkit: `dnn help "
                       "gpu` has the table", driver_wanted(runtime));
}

static bool none_visible(struct err *e)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (visible)
        err_set(e, ERR_NO_GPU, "no GPU is visible; CUDA_VISIBLE_DEVICES=\"%s\"",
                text_quote_z(visible));
    else
        err_set(e, ERR_NO_GPU, "no GPU is visible");
    err_cause(e, REFUSAL_HIDDEN);
    return err_help(e, "`nvidia-smi -L` lists the cards of this machine; permissions of "
                       "/dev/nvidia*, and --gpus of a container, may hide them, and so may MIG on "
                       "a card that has no instance yet (sudo nvidia-smi mig -cgi)");
}

/* The first call starts the driver's memory manager: a missing module is more likely than a broken
 * card. */
static bool does_not_begin(cudaError_t code, const char *call, struct err *e)
{
    err_set(e, ERR_NO_GPU, "the CUDA driver does not begin: %s (%d) from %s",
            cudaGetErrorName(code), (int)code, call);
    err_cause(e, REFUSAL_BEGIN);
    return err_help(e, "sudo nvidia-modprobe -c 0 -u, if nvidia_uvm is not loaded (a container "
                       "needs --gpus all); after a suspend sudo modprobe -r nvidia_uvm, then sudo "
                       "modprobe nvidia_uvm; lines with Xid in dmesg: the card has failed");
}

const char *cuda_advice(cudaError_t code)
{
    switch ((int)code) {
    case 214: case 220: /* ECC, NVLink */
        return "the card reports an uncorrectable error of its hardware: see Xid 48, 63, 64, 94 or "
               "95 in the kernel log (dmesg), and have it reset or replaced";
    case 100: case 999: case 46:
        return "the card may have gone (Xid 79 in the kernel log); `nvidia-smi` says whether it "
               "answers";
    default:
        return "`nvidia-smi` and the kernel log (dmesg, lines with Xid) say more; "
               "--backend dnn_cpu goes without the GPU";
    }
}

bool cuda_refused(struct cuda_runtime *r, cudaError_t code, const char *call, struct err *e)
{
    for (const auto &known : refusals)
        if (known.code == (int)code) {
            err_set(e, ERR_NO_GPU, "%s: %s (%d) from %s", known.what, cudaGetErrorName(code),
                    known.code, call);
            err_cause(e, known.cause);
            return err_help(e, "%s", known.help);
        }
    switch ((int)code) {
    case 2:
        err_set(e, ERR_GPU_MEMORY, "out of memory (%s)", call);
        return err_help(e, "wait until others have left the card, or ask for less: "
                           "train.batch_size, backend.predict_batch_size");
    case 46:
        err_set(e, ERR_GPU_BUSY,
                "the GPU is busy, or in exclusive mode with another process on it");
        return err_help(e, "`nvidia-smi` lists who uses it: try again later; where it finds no "
                           "card, that has gone (Xid 79 in the kernel log), and waiting does not "
                           "bring it back");
    case 35: case 36:
        return driver_too_old(r, e);
    case 100:
        return none_visible(e);
    case 999:
        if (strcmp(call, "cudaGetDeviceCount") == 0)
            return does_not_begin(code, call, e);
        [[fallthrough]];
    default:
        err_set(e, ERR_NO_GPU, "%s (%d) from %s", cudaGetErrorName(code), (int)code, call);
        err_cause(e, is_setup(code) ? REFUSAL_SETUP : REFUSAL_CARD);
        return err_help(e, "%s", cuda_advice(code));
    }
}
