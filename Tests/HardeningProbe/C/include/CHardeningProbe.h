#ifndef KEYCHAIND_CHARDENINGPROBE_H
#define KEYCHAIND_CHARDENINGPROBE_H

/// Starts a thread, before the filter, that makes a call under it.
void keychaind_probe_start_thread(void);

/// Makes system calls and prints the result of each: "NAME done" or the name of the error. Creates files in the folder.
void keychaind_probe_try_all(const char *folder);

/// Makes a call of another architecture; returns 0 on a machine without one.
int keychaind_probe_call_foreign(void);

/// Executes another program.
void keychaind_probe_become(char *const arguments[]);

#endif
