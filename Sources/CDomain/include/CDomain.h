#pragma once

#include <sys/types.h>

/// Whether the kernel gave the process rights that its caller does not have, so that what it inherits is hostile.
int keychaind_is_privileged(void);

/// Gives up every group but the user's own, for good; 0, or an errno.
int keychaind_give_up_group(gid_t user_group);

/// Starts the program of an open file without arguments, environment or descriptors; its output goes to `output`.
///
/// The error is an errno; with one there is no process.
pid_t keychaind_start_helper(int program, const char *name, int output, int *error);

/// Opens a file for nothing but looking at it and executing it; -1 with `errno` if it cannot be, or is a symbolic link.
int keychaind_open_program(const char *path);
