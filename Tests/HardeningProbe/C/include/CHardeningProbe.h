#ifndef KEYCHAIND_CHARDENINGPROBE_H
#define KEYCHAIND_CHARDENINGPROBE_H

/// Starts a second thread, which tries a call too; before the filter.
void keychaind_probe_start_thread(void);

/// Tries calls and prints the outcome of each: "NAME done", or the name of the error. Its files are made in the folder.
void keychaind_probe_try_all(const char *folder);

/// Makes a call of another architecture; 0 on a machine that has none.
int keychaind_probe_call_foreign(void);

/// Becomes another program.
void keychaind_probe_become(char *const arguments[]);

#endif
