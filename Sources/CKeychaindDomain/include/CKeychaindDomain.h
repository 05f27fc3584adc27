#pragma once

#include <sys/types.h>

/// Whether the kernel gave the process rights that its caller does not have, so that inherited state is untrusted.
int keychaind_is_privileged(void);

/// Permanently drops every group but that of the user; returns 0 or an errno.
int keychaind_give_up_group(gid_t user_group);

/// Starts the program of an open file without arguments, environment or descriptors, its output going to `output`.
///
/// Sets `error` to 0, or to an errno if no process was started.
pid_t keychaind_start_helper(int program, const char *name, int output, int *error);

/// Opens a file only to inspect and execute it; returns -1 with `errno`, also for a symbolic link.
int keychaind_open_program(const char *path);
