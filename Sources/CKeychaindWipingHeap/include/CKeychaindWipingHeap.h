#ifndef KEYCHAIND_CWIPINGHEAP_H
#define KEYCHAIND_CWIPINGHEAP_H

#include <stdbool.h>

/// Overwrites all heap memory that the process frees from here on, in every library.
///
/// Call it before creating threads. With or without it, blocks of 8 MiB and more have large pages.
///
/// Returns false if unsupported: with a C library other than glibc, or with a sanitizer, which has its own heap.
bool keychaind_wipe_freed_memory(void);

#endif
