/* gpucheck_look.c - the checks before the card computes: driver, nvml, device, runtime, libraries,
 * architecture, context. A machine that opened is the best proof; if it was refused, its error
 * belongs to one of these checks, and files and libraries tell the rest. */
#include <stdio.h>
#include <string.h>

#include "backend/toolkit.h"
#include "base/text.h"
#include "check/gpucheck_parts.h"
#include "choose/select.h"

/* The check that the machine's refusal belongs to. */
static const char *cause_of(const struct err *e)
{
    switch (e->id == ERR_NO_GPU ? e->cause : 0) {
    case REFUSAL_DRIVER: case REFUSAL_LIBRARY: return "driver";
    case REFUSAL_RUNTIME: return "runtime";
    case REFUSAL_HIDDEN: case REFUSAL_BEGIN: case REFUSAL_DEVICE: return "device";
    case REFUSAL_KERNELS: case REFUSAL_COMPILER: return "architecture";
    default: return "context";
    }
}

static bool is_cause(const struct gpu_job *j, const char *id)
{
    return j->refused.id != ERR_NONE && strcmp(cause_of(&j->refused), id) == 0;
}

#define GET_DRIVER                                                                                 \
    "install the NVIDIA driver of this system (`dnn help gpu-problems` has the commands), then "   \
    "restart"
static const char wsl_fix[] =
    "WSL: install the driver of NVIDIA in Windows; none is installed in Linux";
static const char container_fix[] =
    "start the container with --gpus all (Kubernetes: a limit on nvidia.com/gpu); the host needs "
    "the driver and the nvidia-container-toolkit";

/* --- driver --- */

/* Why no driver serves, and its mend, from what the host shows. */
static void blame_driver(const struct gpu_job *j, struct gpu_check *c)
{
    const struct gpu_host *h = &j->host;
    const char *library = j->libraries.cuda ? "libcuda.so.1 is there" : j->libraries.cuda_why;
    gpucheck_fail(c, GPU_NONE);
    if (h->module[0] && !j->libraries.cuda) {
        gpucheck_reason(c, "the kernel has NVIDIA's driver (%s), but %s", text_quote_z(h->module),
                        library);
        if (h->container)
            gpucheck_fix(c, "%s", container_fix);
        else
            gpucheck_fix(c, "install the driver's libraries of the same version; " GET_DRIVER);
    } else if (h->on_bus) {
        gpucheck_reason(c, "an NVIDIA card is on the PCI bus, but its driver is not loaded%s%s; %s",
                        h->bus_driver[0] ? ": it is held by " : "",
                        h->bus_driver[0] ? text_quote_z(h->bus_driver) : "", library);
        gpucheck_fix(c, "%s", j->libraries.cuda
                                  ? "sudo modprobe nvidia; if that fails, dmesg says why (Secure "
                                    "Boot wants a signed module; a new kernel wants it built again)"
                                  : GET_DRIVER);
    } else if (h->amd[0]) {
        gpucheck_reason(c, "an AMD GPU is here (%s), and no NVIDIA card; %s; %s", h->amd,
                        select_other_kind("rocm"), library);
        gpucheck_fix(c, "use an NVIDIA card, or compute on the CPU: --backend dnn_cpu");
    } else {
        gpucheck_reason(c, "no NVIDIA driver: %s%s", library,
                        h->bus_known ? "; no NVIDIA card is on the PCI bus" : "");
        gpucheck_fix(c, "with a card: %s. In a container: --gpus all. In a virtual machine: the "
                        "card passed through. Without a card: --backend dnn_cpu needs none",
                     h->wsl ? wsl_fix : GET_DRIVER);
    }
}

static bool look_driver(struct gpu_job *j)
{
    struct gpu_check *c = gpucheck_add(j->g, "driver");
    const struct gpu_libraries *l = &j->libraries;
    char version[48] = "";
    gpucheck_threshold(c, "libcuda.so.1 answers, the kernel has its module");
    snprintf(j->g->versions.driver, sizeof j->g->versions.driver, "%s",
             l->driver[0] ? l->driver : j->host.module);
    if (l->cuda)
        snprintf(version, sizeof version, "CUDA %d.%d", l->cuda_version / 1000,
                 l->cuda_version % 1000 / 10);
    else if (j->machine)
        snprintf(version, sizeof version, "%s", j->info.driver);
    gpucheck_measured(c, "%s%s%s", version,
                      version[0] && j->g->versions.driver[0] ? ", driver " : "",
                      text_quote_z(j->g->versions.driver));
    bool other = j->refused.id != ERR_NONE && !is_cause(j, "driver");
    if (j->machine || (other && !l->cuda)) { /* the runtime got past it, or stands in for it */
        gpucheck_reason(c, j->emulated ? "the emulated card stands in the place of a driver"
                                       : "the driver answers");
        return true;
    }
    bool loaded = j->host.module[0] || j->host.wsl || l->nvml;
    if (is_cause(j, "driver") && j->refused.cause == REFUSAL_LIBRARY)
        gpucheck_blame(c, &j->refused);
    else if (is_cause(j, "driver") || !l->cuda || !loaded)
        blame_driver(j, c);
    else
        gpucheck_reason(c, "the driver answers");
    return c->status == GPU_PASS;
}

/* --- nvml, device --- */

static void look_nvml(struct gpu_job *j)
{
    struct gpu_check *c = gpucheck_add(j->g, "nvml");
    gpucheck_threshold(c, "answers");
    if (j->libraries.nvml) {
        gpucheck_measured(c, "%u card%s, driver %s", j->libraries.cards,
                          j->libraries.cards == 1 ? "" : "s", text_quote_z(j->libraries.driver));
        gpucheck_reason(c, "NVML answers");
        return;
    }
    c->status = GPU_WARN;
    gpucheck_reason(c, "%s: memory of several cards, ECC and throttling cannot be asked",
                    j->libraries.nvml_why);
    gpucheck_fix(c, "%s", strstr(j->libraries.nvml_why, "of different versions")
                            ? "restart: the driver was upgraded, and the old module is still loaded"
                            : "it comes with the driver; in a container, "
                              "NVIDIA_DRIVER_CAPABILITIES=compute,utility shows it");
}

static void blame_device(const struct gpu_job *j, struct gpu_check *c)
{
    const struct gpu_host *h = &j->host;
    if (h->denied[0]) {
        gpucheck_reason(c, "%s may not be opened for reading and writing", h->denied);
        gpucheck_fix(c, "sudo usermod -aG video,render $USER and a new login, or let a udev rule "
                        "give /dev/nvidia* the mode 0666; a container needs --gpus all");
    } else if (j->refused.cause == REFUSAL_BEGIN) {
        gpucheck_reason(c, "/dev/nvidia-uvm is not there, and the driver does not begin without "
                           "it: the module nvidia_uvm is not loaded%s",
                        h->container ? ", or the container was not given it" : "");
        gpucheck_fix(c, "%s", h->container ? container_fix
                                           : "sudo nvidia-modprobe -c 0 -u, or sudo modprobe "
                                             "nvidia_uvm");
    } else if (h->is_visible_set) {
        gpucheck_reason(c, "no device is visible: CUDA_VISIBLE_DEVICES=\"%s\"", h->visible);
        gpucheck_fix(c, "unset CUDA_VISIBLE_DEVICES, or name devices that `nvidia-smi -L` lists");
    } else if (j->libraries.card.mig) {
        gpucheck_reason(c, "the card is in MIG mode, and has no instance that can be seen");
        gpucheck_fix(c, "`sudo nvidia-smi mig -lgip` lists what it can be cut into, `sudo "
                        "nvidia-smi mig -cgi PROFILE -C` makes an instance; sudo nvidia-smi -mig 0 "
                        "gives the whole card");
    } else {
        gpucheck_reason(c, "the driver shows no device%s",
                        h->nodes ? "" : ", and there is no /dev/nvidia0");
        gpucheck_fix(c, "%s", h->container
                            ? container_fix
                            : "sudo nvidia-modprobe -c 0 -u makes the device files; `nvidia-smi` "
                              "and dmesg (lines with Xid) show what happened to the card");
    }
}

static bool look_device(struct gpu_job *j)
{
    struct gpu_check *c = gpucheck_add(j->g, "device");
    const struct gpu_libraries *l = &j->libraries;
    gpucheck_threshold(c, "1 visible device");
    if (is_cause(j, "device")) {
        gpucheck_blame(c, &j->refused);
        gpucheck_measured(c, "0");
        bool lacks = j->refused.cause == REFUSAL_BEGIN && !j->host.uvm && !j->host.wsl;
        if (j->refused.cause == REFUSAL_HIDDEN || lacks)
            blame_device(j, c);
        return false;
    }
    if (l->card.compute_mode == 2) {
        gpucheck_fail(c, GPU_BUSY);
        gpucheck_reason(c, "the card lets no program in: its compute mode is Prohibited");
        gpucheck_fix(c, "sudo nvidia-smi -c 0");
        return false;
    }
    /* a driver that is too old was not asked for its devices */
    bool old = !j->machine && is_cause(j, "runtime"), asked = !j->machine && !j->refused.id;
    if ((old && (j->host.denied[0] || j->host.hides)) ||
        (asked && (j->host.denied[0] || j->host.hides || !l->cards))) {
        gpucheck_fail(c, GPU_NONE);
        gpucheck_measured(c, "0");
        blame_device(j, c);
        return false;
    }
    if (j->machine) {
        gpucheck_measured(c, "%u (%s)", j->info.count, text_quote_z(j->info.device));
        gpucheck_reason(c, "device %u is used%s%s", j->info.index,
                        l->card.mig ? "; the card is cut in slices (MIG): memory and speed are "
                                      "those of one" : "",
                        l->card.compute_mode == 3 ? "; its compute mode lets one program in at a "
                                                    "time" : "");
    } else if (l->nvml) {
        gpucheck_measured(c, "%u", l->cards);
        gpucheck_reason(c, "the driver shows %u card%s", l->cards, l->cards == 1 ? "" : "s");
    } else {
        gpucheck_reason(c, "the driver shows a card; without NVML their number is not known");
    }
    return true;
}

/* --- runtime, libraries, architecture, context --- */

static bool look_runtime(struct gpu_job *j)
{
    struct gpu_check *c = gpucheck_add(j->g, "runtime");
    gpucheck_threshold(c, "a driver of the runtime's version or newer");
    if (!machine_known("cuda")) {
        gpucheck_fail(c, GPU_NONE);
        gpucheck_reason(c, "this build has no GPU kernels and no CUDA runtime");
        gpucheck_fix(c, "build where nvcc is found (a CUDA toolkit from 11.8 on): make");
        return false;
    }
    if (is_cause(j, "runtime")) {
        gpucheck_blame(c, &j->refused);
        gpucheck_fix(c, "%s: %s", j->refused.help, j->host.wsl ? wsl_fix : GET_DRIVER);
        return false;
    }
    if (j->machine)
        gpucheck_measured(c, "%s on a driver for %s", j->info.runtime, j->info.driver);
    gpucheck_reason(c, "the driver serves the runtime");
    return true;
}

static void look_libraries(struct gpu_job *j)
{
    struct gpu_check *c = gpucheck_add(j->g, "libraries");
    const struct gpu_versions *v = &j->g->versions;
    char why_not[400];
    bool good = gpucheck_other_libraries(j->g, why_not, sizeof why_not);
    gpucheck_measured(c, "cuBLASLt %s, cuDNN %s, NCCL %s", v->cublas[0] ? v->cublas : "none",
                      v->cudnn[0] ? v->cudnn : "none", v->nccl[0] ? v->nccl : "none");
    gpucheck_threshold(c, "none is needed");
    gpucheck_reason(c, "the kernels are the program's own%s%s", why_not[0] ? "; " : "", why_not);
    if (good)
        return;
    c->status = GPU_WARN;
    gpucheck_fix(c, "install a newer version, or take it from the loader's path; our kernels serve "
                    "without it");
}

/* Blames the toolkit: the card is too old for any, or too new for the one of this build. */
static void blame_architecture(const struct gpu_job *j, struct gpu_check *c)
{
    unsigned major = 0, minor = 0;
    if (!j->g->device_count ||
        sscanf(j->g->devices[0].capability, "%2u.%1u", &major, &minor) != 2) {
        gpucheck_fix(c, "build for the card's compute capability: make CUDA_ARCHS=90, say");
        return;
    }
    gpucheck_measured(c, "%u.%u", major, minor);
    const struct toolkit *t = toolkit_for(10 * major + minor);
    if (t)
        gpucheck_fix(c, "make CUDA_ARCHS=%u%u with a toolkit from CUDA %u.%u on; `dnn help gpu` "
                        "has the table", major, minor, t->first / 10, t->first % 10);
    else
        gpucheck_fix(c, "the kernels are for cards from compute capability %u.%u on",
                     toolkit_at(0)->least / 10, toolkit_at(0)->least % 10);
}

static bool look_architecture(struct gpu_job *j)
{
    struct gpu_check *c = gpucheck_add(j->g, "architecture");
    gpucheck_threshold(c, "kernels of this build for it");
    if (is_cause(j, "architecture")) {
        gpucheck_blame(c, &j->refused);
        if (j->refused.cause == REFUSAL_KERNELS)
            blame_architecture(j, c);
        return false;
    }
    if (j->machine)
        gpucheck_measured(c, "%s", j->plan.core);
    gpucheck_reason(c, "this build has kernels for it");
    return true;
}

static void look_context(struct gpu_job *j)
{
    struct gpu_check *c = gpucheck_add(j->g, "context");
    gpucheck_threshold(c, "opens");
    if (j->machine) {
        gpucheck_measured(c, "GPU %u", j->info.index);
        gpucheck_reason(c, "the card is open, with its streams");
        return;
    }
    if (!gpucheck_blame(c, &j->refused))
        gpucheck_fail(c, GPU_NONE);
    if (j->refused.id == ERR_NO_GPU && j->refused.cause == REFUSAL_CARD)
        gpucheck_fail(c, GPU_FAULTY);
    if (c->verdict == GPU_BUSY && j->libraries.card.holders[0])
        gpucheck_fix(c, "processes on the card: %s; wait for them%s", j->libraries.card.holders,
                     j->refused.id == ERR_GPU_BUSY ? ", or sudo nvidia-smi -c 0 lets several in"
                                                   : "");
}

/* Asked for otherwise: nothing of a GPU is opened. */
static bool look_wishes(struct gpu_job *j)
{
    if (!j->disabled && !j->other_kind)
        return true;
    struct gpu_check *c = gpucheck_add(j->g, "driver");
    gpucheck_fail(c, GPU_NONE);
    if (j->other_kind) {
        gpucheck_reason(c, "%s \"%s\" is not supported: %s%s%s%s",
                        j->backend.kind_from, j->other_kind, select_other_kind(j->other_kind),
                        j->host.amd[0] ? "; an AMD GPU is here (" : "", j->host.amd,
                        j->host.amd[0] ? ")" : "");
        gpucheck_fix(c, "this program has kernels for CUDA alone: unset %s", j->backend.kind_from);
    } else {
        gpucheck_reason(c, "the GPU is switched off by %s; nothing of it was opened",
                        text_quote_z(j->disabled));
        gpucheck_fix(c, "ask with --backend dnn_gpu, or without that setting");
    }
    return false;
}

void gpucheck_look(struct gpu_job *j)
{
    static const char *const rest[] = {"nvml",      "device",       "runtime",
                                       "libraries", "architecture", "context"};
    const bool on = look_wishes(j), driver = on && look_driver(j);
    if (on)
        look_nvml(j);
    const bool device = driver && look_device(j);
    if (on && !driver)
        gpucheck_skip(j->g, "device", "needs driver");
    const bool runtime = on && look_runtime(j); /* a build without kernels is told in any case */
    if (runtime && !driver) {
        struct gpu_check *c = gpucheck_add(j->g, "runtime");
        c->status = GPU_SKIP;
        gpucheck_reason(c, "needs driver");
    }
    if (device && runtime) {
        look_libraries(j);
        if (look_architecture(j))
            look_context(j);
    }
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        gpucheck_skip(j->g, rest[i], !on       ? "the GPU is not asked for"
                                     : !driver ? "needs driver"
                                     : !device ? "needs device"
                                               : "needs runtime");
}
