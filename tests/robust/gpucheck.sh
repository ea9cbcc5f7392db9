#!/bin/bash
# gpucheck.sh - `dnn gpucheck` without a usable GPU, and its mends: in a container, with half a driver.
# Machines are folders (DNN_GPUCHECK_ROOT) and stand-ins for the libraries of the driver. Ids: G20.
. "$(dirname "$0")/../tap.sh"
DNN=$HOOKED
unset CUDA_VISIBLE_DEVICES GPU_BACKEND GPU_DEVICE_ID KUBERNETES_SERVICE_HOST DNN_TRAIN_GPU
export TMPDIR=$WORK
if ldconfig -p 2>/dev/null | grep -q libcuda.so.1 || [ -e /usr/lib/wsl/lib/libcuda.so.1 ]; then
    skip "G20 machines without a GPU" "this one has its driver"
    done_testing
fi
# machine NAME OS-RELEASE: a folder that looks like one
machine() {
    mkdir -p "$1/etc" "$1/proc/bus/pci" "$1/proc/driver/nvidia" "$1/dev"
    printf '%b' "$2" >"$1/etc/os-release"
    printf '0000\t80861237\t0\n0008\t80867000\t0\t0\tata_piix\n' >"$1/proc/bus/pci/devices"
    export DNN_GPUCHECK_ROOT=$WORK/$1
}
card() { printf '0020\t10de2330\tb\t0\t%s\n' "$1" >>"$DNN_GPUCHECK_ROOT/proc/bus/pci/devices"; }
module() {
    printf 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22\n' >"$DNN_GPUCHECK_ROOT/proc/driver/nvidia/version"
}
verdict() { tail -n 1 out | grep -q "^verdict: $1 "; ok $? "$2: $1" "$(cat out)"; }

machine none 'NAME="Debian"\nID=debian\n'
run dnn gpucheck
is_exit 69 "G20 no GPU: 69"
cat >want <<'T'
driver              fail  no NVIDIA driver: libcuda.so.1 is not found; no NVIDIA card is on the PCI bus
                          fix: with a card: install the NVIDIA driver of this system (`dnn help gpu-problems` has the commands), then restart. In a container: --gpus all. In a virtual machine: the card passed through. Without a card: --backend dnn_cpu needs none
nvml                warn  libnvidia-ml.so.1 is not found: memory of several cards, ECC and throttling cannot be asked
                          fix: it comes with the driver; in a container, NVIDIA_DRIVER_CAPABILITIES=compute,utility shows it
T
sed '/measured:/d' out | head -n 4 >got
same got want "what is missing, and how to get it"
verdict none "no GPU"
[ ! -s err ]
after_exit $? "nothing on standard error" "$(cat err)"
run dnn gpucheck --format spark
is_exit 0 "G20 Spark: 0"
is "$(cat out)" '{"name":"gpu","addresses":[]}' "G20 Spark: exactly an empty list"
run dnn gpucheck --json
is_exit 69 "G20 JSON: the same exit"
out_has '{"schema":"dnn.gpucheck/1","verdict":"none","exit":69,"checks":[{"id":"driver","status":"fail"' "one object"
out_has '"devices":[],"versions":{"driver":null,"cuda_runtime":' "devices and versions"
want="driver nvml device runtime libraries architecture context alloc copy kernel.* gradient train portable repeat health"
ids=$(grep -o '"id":"[a-z_0-9.]*"' out | sed 's/.*:"//; s/"//; s/^kernel\..*/kernel.*/' | uniq | paste -sd' ')
is "$ids" "$want" "every check, in the order of the contract"
run dnn gpucheck --format json
out_has '"schema":"dnn.gpucheck/1"' "--format json is --json"
run dnn gpucheck --format prom
is_exit 69 "Prometheus: the same exit"
! grep -vE \
    -e '^# (HELP|TYPE) dnn_gpucheck_(exit|check) ' -e '^dnn_gpucheck_exit 69$' \
    -e '^dnn_gpucheck_check\{id="[a-z_0-9.]+",status="(pass|warn|fail|skip)"\} 1$' out
ok $? "its text format" "$(cat out)"

# --- how a driver is had ---
run dnn help gpu-problems
for system in Ubuntu Debian Fedora RHEL Arch SUSE; do
    grep -qE "^ +$system +sudo " out
    ok $? "G20 the page has the commands of $system"
done
# --- half there ---
machine nouveau 'ID=debian\n'
card nouveau
run dnn gpucheck
out_has "an NVIDIA card is on the PCI bus, but its driver is not loaded: it is held by nouveau" "G20 a card without its driver"
machine module 'ID=debian\n'
card nvidia
module
run dnn gpucheck
out_has "the kernel has NVIDIA's driver (550.54.14), but libcuda.so.1 is not found" "G20 a module without its libraries"
touch module/.dockerenv
run dnn gpucheck
out_has "--gpus all" "G20 the same in a container"
machine amd 'ID=debian\n'
touch amd/dev/kfd
run dnn gpucheck
out_has "an AMD GPU is here (/dev/kfd), and no NVIDIA card" "G20 an AMD card is told"
# --- another kind of GPU ---
# kind KIND TEXT [VARIABLE=..]: what is said of it
kind() {
    local kind=$1 text=$2
    shift 2
    run env GPU_BACKEND="$kind" "$@" "$DNN" gpucheck
    is_exit 69 "GPU_BACKEND=$kind $*: 69"
    grep -qF "driver              fail  GPU_BACKEND \"$kind\" is not supported: $text" out
    ok $? "$text" "$(cat out)"
}
kind rocm "this build has no kernels for AMD GPUs; an AMD GPU is here (/dev/kfd)"
machine hip 'ID=debian\n'
kind mps "this platform has no Metal"
kind rocm "this build has no kernels for AMD GPUs"
touch hip/dev/kfd
run dnn gpucheck --json
out_has "an AMD GPU is here (/dev/kfd), and no NVIDIA card; this build has no kernels for AMD GPUs" "an AMD card is named in the JSON"
machine wsl 'ID=ubuntu\n'
touch wsl/dev/dxg
run dnn gpucheck
out_has "install the driver of NVIDIA in Windows" "G20 in Windows' Linux"

# --- with libraries that answer ---
cat >cuda.c <<'C'
int cuDriverGetVersion(int *v) { *v = 12040; return 0; }
C
cat >nvml.c <<'C'
#include <string.h>
struct memory { unsigned long long total, free, used; };
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlSystemGetDriverVersion(char *to, unsigned room) { strncpy(to, "550.54.14", room); return 0; }
int nvmlDeviceGetCount_v2(unsigned *n) { *n = 1; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **d) { *d = (void *)(long)(i + 1); return 0; }
int nvmlDeviceGetName(void *d, char *to, unsigned room) { strncpy(to, "Stand-in", room); return d == 0; }
int nvmlDeviceGetUUID(void *d, char *to, unsigned room) { strncpy(to, "GPU-1", room); return d == 0; }
int nvmlDeviceGetMemoryInfo(void *d, struct memory *m) { m->total = 1000; m->used = 400; m->free = 600; return d == 0; }
int nvmlDeviceGetCudaComputeCapability(void *d, int *a, int *b) { *a = 9; *b = 0; return d == 0; }
#ifdef PROHIBITED
int nvmlDeviceGetComputeMode(void *d, int *mode) { *mode = 2; return d == 0; }
#endif
C
mkdir full closed broken
if gcc -shared -fPIC -o full/libcuda.so.1 cuda.c 2>/dev/null && gcc -shared -fPIC -o full/libnvidia-ml.so.1 nvml.c && ! sanitized; then
    cp full/libcuda.so.1 closed/ && gcc -shared -fPIC -DPROHIBITED -o closed/libnvidia-ml.so.1 nvml.c
    machine driver 'ID=debian\n'
    card nvidia
    module
    touch driver/dev/nvidia0 driver/dev/nvidiactl
    run env LD_LIBRARY_PATH=full "$DNN" gpucheck
    is_exit 69 "G20 a driver that does not serve this program: 69"
    out_has "measured: CUDA 12.4, driver 550.54.14" "both versions"
    if has_kernels; then
        why='the CUDA driver serves CUDA 12.4, this program needs' mend='or build with an older toolkit'
    else
        why='this build has no GPU kernels' mend='build where nvcc is found'
    fi
    grep -q '^device .*pass' out && grep -q "^runtime .*fail  $why" out
    ok $? "what is there passes, what is missing fails" "$(cat out)"
    out_has "$mend" "what is missing: how to get it"
    run env LD_LIBRARY_PATH=full "$DNN" gpucheck --json
    out_has \
        '"devices":[{"id":"0","name":"Stand-in","uuid":"GPU-1","backend":"cuda","compute_capability":"9.0","total_bytes":1000,"used_bytes":400,"free_bytes":600}],"versions":{"driver":"550.54.14"' \
        "the device"
    CUDA_VISIBLE_DEVICES=-1 run env LD_LIBRARY_PATH=full "$DNN" gpucheck
    out_has 'no device is visible: CUDA_VISIBLE_DEVICES="-1"' "G20 a hidden card"
    out_has "unset CUDA_VISIBLE_DEVICES" "G20 a hidden card: how to show it"
    if [ "$(id -u)" -ne 0 ]; then
        chmod 000 driver/dev/nvidia0
        run env LD_LIBRARY_PATH=full "$DNN" gpucheck
        out_has "/dev/nvidia0 may not be opened for reading and writing" "G20 no permission"
        out_has "sudo usermod -aG video,render" "G20 no permission: how to get it"
    else
        skip "G20 no permission" "root may read anything"
    fi
    run env LD_LIBRARY_PATH=closed "$DNN" gpucheck
    is_exit 75 "G20 a card that lets nobody in: 75"
    out_has "sudo nvidia-smi -c 0" "G20 a card that lets nobody in: how to open it"
    verdict busy "the compute mode"
    run env LD_LIBRARY_PATH=closed "$DNN" gpucheck --format spark
    is_exit 75 "Spark hears of it"
    rm driver/proc/driver/nvidia/version full/libnvidia-ml.so.1
    run env LD_LIBRARY_PATH=full "$DNN" gpucheck
    out_has "sudo modprobe nvidia" "G20 libraries without the module"
    printf 'no library' >broken/libcuda.so.1
    run env LD_LIBRARY_PATH=broken "$DNN" gpucheck
    out_has "libcuda.so.1 cannot be loaded" "G20 a broken library"
    is_exit 69 "is 69"
else
    skip "G20 libraries that answer" "no gcc, or a sanitizer"
fi
if command -v strace >/dev/null 2>&1 && strace -o /dev/null true 2>/dev/null; then
    # the leak checker does not work under strace
    ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" strace -f -e trace=open,openat -o trace "$DNN" gpucheck --backend dnn_cpu >out 2>err
    ! grep -qiE 'libcuda|nvidia|cudnn|cublas|nccl' trace
    ok $? "--backend dnn_cpu opens nothing of a GPU" "$(grep -iE 'cuda|nvidia' trace)"
else
    skip "nothing of a GPU is opened" "no strace here"
fi
done_testing
