/* shadow.h - where the emulated memory lies, for memory.cc and shadow.cc. */
#ifndef EMULATE_SHADOW_H
#define EMULATE_SHADOW_H

#include "emulate.h"

/* the arenas of the blocks alive come first, then what is allocated */
static const size_t MEMORY_SHARED = (size_t)BLOCKS * SHARED_BYTES;
static const size_t MEMORY_RANGE = (size_t)256 << 20;
extern unsigned char *memory_base;

#endif
