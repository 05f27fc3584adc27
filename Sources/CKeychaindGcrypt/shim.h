#pragma once

#include <errno.h>
#include <gcrypt.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

// gcry_control is variadic.

static inline int keychaind_gcry_initialization_finished(void) {
    return gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P) != 0;
}

static inline int keychaind_gcry_is_in_fips_mode(void) { return gcry_fips_mode_active() != 0; }

static inline void keychaind_gcry_finish_initialization(void) { gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0); }

// The pool does not grow: added memory would not be locked. Locked by libgcrypt it would be resident as a whole; here a
// page is locked when it is first used.
static inline gcry_error_t keychaind_gcry_initialize_secure_memory(unsigned int size) {
    gcry_control(GCRYCTL_DISABLE_SECMEM_WARN);
    gcry_control(GCRYCTL_DISABLE_LOCKED_SECMEM);
    gcry_error_t error = gcry_control(GCRYCTL_INIT_SECMEM, size, 0);
    if (error) return error;
    // The pool is mapped, so it begins with the page of the first block.
    void *first = gcry_malloc_secure(1);
    if (!first) return gcry_error_from_errno(ENOMEM);
    void *pool = (void *)((uintptr_t)first & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1));
    gcry_free(first);
    const unsigned int on_fault = 1;
    if (syscall(SYS_mlock2, pool, (size_t)size, on_fault) == 0 || mlock(pool, size) == 0) return 0;
    return gcry_error_from_errno(errno);
}
