#ifndef KEYCHAIND_CWIPINGHEAP_H
#define KEYCHAIND_CWIPINGHEAP_H

#include <stdbool.h>

/// Overwrites, from now on, all heap memory that the process frees, in whichever library.
///
/// Call it before there is a second thread. A program that does not call it frees memory as always.
///
/// Returns false where this cannot be done: with a C library other than glibc, and with a sanitizer, which has its own heap.
bool keychaind_wipe_freed_memory(void);

#endif
