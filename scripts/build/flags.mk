# Compiler flags, in one place. SAN= address | thread | empty; REAL=double builds the gradient tests' arithmetic.
V ?= 0
Q := $(if $(filter 1,$(V)),,@)

WARN := -Wall -Wextra -Wpedantic -Wformat=2 -Wformat-signedness -Wconversion -Wsign-conversion -Wshadow -Wundef -Wvla \
        -Wcast-qual -Wcast-align=strict -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition \
        -Wdouble-promotion -Wduplicated-cond -Wlogical-op -Wimplicit-fallthrough=5 -Wswitch-enum \
        -Werror=implicit-function-declaration -Werror=incompatible-pointer-types -Werror=int-conversion \
        -Werror=return-type -Werror=format-security
HARD := -fPIE -fno-plt -fstack-protector-strong -fstack-clash-protection -fcf-protection=full \
        -ftrivial-auto-var-init=zero -fno-delete-null-pointer-checks -fno-strict-overflow -fno-strict-aliasing \
        -fno-common -ffp-contract=off -fexcess-precision=standard -ffile-prefix-map=$(CURDIR)=. 
# keep only what this compiler knows (an older gcc, or clang)
try   = $(shell printf '' | $(CC) $(1) -Werror -E -x c - >/dev/null 2>&1 && echo '$(1)')
ifeq ($(origin KNOWN),undefined)
KNOWN := $(foreach f,$(WARN) $(HARD),$(call try,$(f)))
export KNOWN
endif

OPT ?= -O2 -g
ifeq ($(SAN),address)
SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
else ifeq ($(SAN),thread)
SANFLAGS := -fsanitize=thread
else
HARDEN := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
endif

CPPFLAGS += -Isrc -D_GNU_SOURCE -DDNN_VERSION='"$(VERSION)"' $(if $(filter double,$(REAL)),-DDNN_DOUBLE=1)
CFLAGS   := -std=c11 $(OPT) $(KNOWN) $(HARDEN) $(SANFLAGS) $(if $(WERROR),-Werror) $(EXTRA_CFLAGS)
LDFLAGS  := -pie -Wl,-z,relro,-z,now -Wl,-z,noexecstack -Wl,--as-needed $(SANFLAGS)
LIBS     := -lcjson -lcsv -lutf8proc -lm -lpthread -ldl
TESTFLAGS := -Wno-missing-prototypes

# hot files
flags_csv_scan          := -O3
flags_base_sort            := -O3
flags_table_fit_fit_number := -O3
flags_table_fit_fit_values := -O3
flags_table_fit_fit_scan   := -O3
flags_table_encoder_apply       := -O3
flags_model_solve_ridge       := -O3
flags_table_dataset_record_hash      := -O3
flags_table_split_deal        := -O3
flags_table_split_deal_avx2   := -O3 -mavx2
flags_csv_form_number        := -O3
flags_csv_scan_masks    := -O3
flags_table_encoder_cell_run      := -O3
flags_table_encoder_cell_run_avx512 := -O3 -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512cd -mbmi2
# no loop becomes a vector where a lane might trap or set errno; nobody looks at either
flags_table_encoder_quantile      := -O3 -fno-trapping-math -fno-math-errno
flags_table_encoder_quantile_avx2 := $(flags_table_encoder_quantile) -mavx2 -mpopcnt
flags_table_encoder_quantile_avx512 := $(flags_table_encoder_quantile) -mavx512f -mavx512bw -mavx512vl -mavx512dq -mpopcnt
flags_table_fit_fit_scan_avx512 := -O3 -mavx512f
flags_csv_scan_avx2     := -O3 -mavx2
flags_csv_scan_places_avx512 := -O3 -mavx512f -mavx512bw -mavx512vbmi2 -mpopcnt
flags_csv_scan_avx512   := -O3 -mavx512f -mavx512bw
# unrolled loops with a check at each access take minutes to compile: not under a sanitizer
# the sums of a block stay in registers: clearing the memory behind them first would cost more than a short block
VEC_OPT := $(if $(SANFLAGS),-O1,-O3) $(if $(findstring auto-var-init,$(KNOWN)),-ftrivial-auto-var-init=uninitialized)
flags_backend_cpu_cpu_view := -O3
flags_model_solve_design       := $(VEC_OPT)
flags_backend_cpu_vec_c      := $(VEC_OPT) $(if $(SANFLAGS),-fno-inline)
flags_backend_cpu_vec_avx2   := $(VEC_OPT) -mavx2 -mfma
flags_backend_cpu_vec_avx512 := $(VEC_OPT) -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mbmi
flags_backend_cpu_vec_bf16 := $(VEC_OPT) -mavx512f -mavx512bw -mavx512dq -mavx512vl $(foreach f,-mavx512bf16 -mamx-tile -mamx-bf16,$(call try,$(f)))
