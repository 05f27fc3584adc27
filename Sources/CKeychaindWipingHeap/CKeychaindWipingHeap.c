#include "CKeychaindWipingHeap.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

// The smallest of large blocks, in bytes. The memory of a key derivation is one.
static const size_t large = 8 << 20;

static bool wipes = false;

bool keychaind_wipe_freed_memory(void) {
    wipes = true;
    return true;
}

// Advises about the pages that are wholly in a block. False if the system refuses.
static bool advise(char *block, size_t size, int advice, char **first, char **end) {
    uintptr_t page = sysconf(_SC_PAGESIZE);
    *first = block + (-(uintptr_t)block & (page - 1));
    *end = block + size - ((uintptr_t)(block + size) & (page - 1));
    int error = errno;
    bool done = madvise(*first, *end - *first, advice) == 0;
    errno = error;
    return done;
}

static void wipe(char *block, size_t size) {
    char *first, *end;
    // Pages that have gone back to the system are zero, in a tenth of the time.
    if (size >= large && advise(block, size, MADV_DONTNEED, &first, &end)) {
        explicit_bzero(block, first - block);
        explicit_bzero(end, block + size - end);
    } else {
        explicit_bzero(block, size);
    }
}

void *malloc(size_t size) {
    char *block = __libc_malloc(size), *first, *end;
    // Thousands of first uses of small pages take a quarter of the time of a key derivation.
    if (size >= large && block) advise(block, size, MADV_HUGEPAGE, &first, &end);
    return block;
}

void free(void *memory) {
    if (wipes && memory) wipe(memory, malloc_usable_size(memory));
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
        wipe((char *)memory + size, room - size);
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
