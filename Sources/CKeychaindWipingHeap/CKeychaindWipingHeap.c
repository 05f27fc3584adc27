#include "CKeychaindWipingHeap.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define HAS_SANITIZER
#endif
#endif

#if defined(__GLIBC__) && !defined(HAS_SANITIZER)

// glibc lets a program replace these functions (manual, "Replacing malloc") for all libraries of the process, glibc
// included. The originals remain available under these names.
extern void *__libc_malloc(size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void __libc_free(void *memory);

static bool wipes = false;

bool keychaind_wipe_freed_memory(void) {
    wipes = true;
    return true;
}

void free(void *memory) {
    if (wipes && memory) explicit_bzero(memory, malloc_usable_size(memory));
    __libc_free(memory);
}

void *realloc(void *memory, size_t size) {
    if (!wipes || !memory) return __libc_realloc(memory, size);
    if (size == 0) {
        free(memory);
        return NULL;
    }
    size_t room = malloc_usable_size(memory);
    if (size <= room) {
        explicit_bzero((char *)memory + size, room - size);
        // Shrinks in place, without copying.
        return __libc_realloc(memory, size);
    }
    void *larger = __libc_malloc(size);
    if (!larger) return NULL;
    memcpy(larger, memory, room);
    free(memory);
    return larger;
}

#else

bool keychaind_wipe_freed_memory(void) { return false; }

#endif
