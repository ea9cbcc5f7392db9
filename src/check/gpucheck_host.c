/* gpucheck_host.c - what this machine shows without any driver: the PCI bus, device files, the
 * kernel's module, containers, and how a driver is had here. Files are read, none is opened for
 * writing, no device file at all. A test puts a folder in the place of /. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/file/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "check/gpucheck_parts.h"

struct place { char path[1024]; };

/* A path of this machine, or below the folder that a test puts in the place of /. */
static struct place place_of(const char *path)
{
    struct place p;
    const char *root = fault_setting("GPUCHECK_ROOT");
    snprintf(p.path, sizeof p.path, "%s%s", root ? root : "", path);
    return p;
}

static bool may(const char *path, int mode)
{
    return access(place_of(path).path, mode) == 0;
}

static char *small_file(const char *path)
{
    return file_small(place_of(path).path);
}

/* The value after KEY= at the start of a line, without quotes. */
static void value_of(const char *text, const char *key, char *to, size_t room)
{
    size_t length = strlen(key);
    for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        if (strncmp(line, key, length) != 0)
            continue;
        const char *value = line + length + (line[length] == '"');
        snprintf(to, room, "%.*s", (int)strcspn(value, "\"\n"), value);
        return;
    }
}

/* /proc/bus/pci/devices: a line a function: place, vendor and device as eight hex digits, .., the
 * module that drives it. A card's functions are several; the first that has a module counts. */
static void look_at_bus(struct gpu_host *h)
{
    char *text = small_file("/proc/bus/pci/devices");
    h->bus_known = text != NULL;
    for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        unsigned place, what;
        if (sscanf(line, "%x %x", &place, &what) != 2 || what >> 16 != 0x10de)
            continue;
        h->on_bus = true;
        size_t length = strcspn(line, "\n"), begin = length;
        while (begin > 0 && line[begin - 1] != '\t' && line[begin - 1] != ' ')
            begin--;
        bool named = length > begin && strspn(line + begin, "0123456789abcdef") < length - begin;
        if (named && !h->bus_driver[0])
            snprintf(h->bus_driver, sizeof h->bus_driver, "%.*s", (int)(length - begin),
                     line + begin);
    }
    mem_free(text);
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  ...": the first word with a dot that
 * begins with a digit. */
static void look_at_module(struct gpu_host *h)
{
    char *text = small_file("/proc/driver/nvidia/version");
    for (const char *at = text; at && *at && *at != '\n'; at += strspn(at, " \t")) {
        size_t length = strcspn(at, " \t\n");
        if (*at >= '0' && *at <= '9' && memchr(at, '.', length) && !h->module[0])
            snprintf(h->module, sizeof h->module, "%.*s", (int)length, at);
        at += length;
    }
    if (text && !h->module[0])
        snprintf(h->module, sizeof h->module, "loaded");
    mem_free(text);
}

static void look_at_nodes(struct gpu_host *h)
{
    char path[32];
    for (int i = -2; i < 32; i++) {
        snprintf(path, sizeof path, "/dev/nvidia%s", i == -2 ? "ctl" : "-uvm");
        if (i >= 0)
            snprintf(path, sizeof path, "/dev/nvidia%d", i);
        if (!may(path, F_OK))
            continue;
        h->nodes += i >= 0;
        h->uvm |= i == -1;
        if (!may(path, R_OK | W_OK) && !h->denied[0])
            snprintf(h->denied, sizeof h->denied, "%s", path);
    }
}

void gpucheck_host(struct gpu_host *h)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    char *release = small_file("/etc/os-release");
    *h = (struct gpu_host){0};
    value_of(release, "ID=", h->system, sizeof h->system);
    value_of(release, "ID_LIKE=", h->like, sizeof h->like);
    mem_free(release);
    h->container = may("/.dockerenv", F_OK) || may("/run/.containerenv", F_OK) ||
                   getenv("KUBERNETES_SERVICE_HOST") != NULL;
    h->wsl = may("/dev/dxg", F_OK);
    if (may("/dev/kfd", F_OK))
        snprintf(h->amd, sizeof h->amd, "/dev/kfd");
    look_at_bus(h);
    look_at_module(h);
    look_at_nodes(h);
    h->is_visible_set = visible != NULL;
    h->hides = visible && (!*visible || *visible == '-');
    if (visible)
        snprintf(h->visible, sizeof h->visible, "%s", text_quote_z(visible));
}

static const struct { const char *id, *how; } systems[] = {
    {"ubuntu", "Ubuntu: sudo ubuntu-drivers install, then restart"},
    {"debian", "Debian: sudo apt install nvidia-driver firmware-misc-nonfree (components contrib, "
               "non-free and non-free-firmware), then restart"},
    {"fedora", "Fedora: sudo dnf install akmod-nvidia xorg-x11-drv-nvidia-cuda (from RPM Fusion), "
               "then restart"},
    {"rhel", "RHEL and its kin: sudo dnf install nvidia-driver nvidia-driver-cuda (from the "
             "repository of NVIDIA), then restart"},
    {"arch", "Arch: sudo pacman -S nvidia nvidia-utils, then restart"},
    {"suse", "SUSE: sudo zypper install nvidia-open-driver-G06-signed-kmp-meta "
             "nvidia-compute-utils-G06, then restart"}};

const char *gpucheck_driver_package(const struct gpu_host *h)
{
    size_t count = sizeof systems / sizeof *systems;
    if (h->wsl)
        return "WSL: install the driver of NVIDIA in Windows; none is installed in Linux";
    for (size_t i = 0; i < count; i++)
        if (strcmp(h->system, systems[i].id) == 0)
            return systems[i].how;
    const char *nearest = NULL, *how = NULL; /* ID_LIKE begins with the nearest kin */
    for (size_t i = 0; i < count; i++) {
        const char *at = strstr(h->like, systems[i].id);
        if (at && (!nearest || at < nearest)) {
            nearest = at;
            how = systems[i].how;
        }
    }
    return how ? how
               : "install the NVIDIA driver of this system (its packages, or NVIDIA's "
                 "installer), then restart";
}
