#pragma once

#include <gcrypt.h>
#include <sys/random.h>

// gcry_control is variadic.

static inline int keychaind_gcry_initialization_finished(void) {
    return gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P) != 0;
}

static inline void keychaind_gcry_finish_initialization(void) { gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0); }

// The pool does not grow: added memory would not be locked.
static inline gcry_error_t keychaind_gcry_initialize_secure_memory(unsigned int size) {
    gcry_control(GCRYCTL_DISABLE_SECMEM_WARN);
    return gcry_control(GCRYCTL_INIT_SECMEM, size, 0);
}
