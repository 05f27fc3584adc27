#define _GNU_SOURCE
#include "CHardeningProbe.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

// Possibly newer than the headers; the same number on all architectures.
#define FCHMODAT2 452
#define UNKNOWN 9999

static void report(const char *name, long result) {
    printf("%s %s\n", name, result == -1 ? strerrorname_np(errno) : "done");
}

// A thread created before the filter makes the same call as the main thread.

static atomic_int turn = 0;
static int other_result, other_error;

static void *try_in_thread(void *unused) {
    (void)unused;
    while (atomic_load(&turn) != 1) sched_yield();
    other_result = socket(AF_INET, SOCK_STREAM, 0);
    other_error = errno;
    atomic_store(&turn, 2);
    return NULL;
}

void keychaind_probe_start_thread(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, try_in_thread, NULL);
    pthread_detach(thread);
}

static void try_sockets(void) {
    int pair[2];
    report("socket-unix", socket(AF_UNIX, SOCK_STREAM, 0));
    report("socket-inet", socket(AF_INET, SOCK_STREAM, 0));
    report("socket-inet6", socket(AF_INET6, SOCK_DGRAM, 0));
    report("socket-netlink", socket(AF_NETLINK, SOCK_RAW, 0));
    report("socketpair-unix", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    report("socketpair-inet", socketpair(AF_INET, SOCK_STREAM, 0, pair));
    atomic_store(&turn, 1);
    while (atomic_load(&turn) != 2) sched_yield();
    errno = other_error;
    report("socket-inet-thread", other_result);
}

static void try_memory(void) {
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    report("mmap", (intptr_t)memory);
    int program = open("/proc/self/exe", O_RDONLY);
    report("mmap-code", (intptr_t)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, program, 0));
    report("mmap-wx", (intptr_t)mmap(NULL, 4096, PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    report("mprotect", mprotect(memory, 4096, PROT_READ));
    report("mprotect-x", mprotect(memory, 4096, PROT_READ | PROT_EXEC));
    report("pkey_mprotect-x", syscall(SYS_pkey_mprotect, memory, 4096, PROT_EXEC, -1));
    int segment = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0700);
    report("shmat", (intptr_t)shmat(segment, NULL, 0));
    report("shmat-x", (intptr_t)shmat(segment, NULL, SHM_EXEC));
    shmctl(segment, IPC_RMID, NULL);
    void *library = dlopen("libresolv.so.2", RTLD_NOW);
    printf("dlopen %s\n", library ? "done" : dlerror());
}

static void try_processes(void) {
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/true", "true", NULL);
        _exit(1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    report("fork-exec", status == 0 ? 0 : -1);
    child = vfork();
    if (child == 0) {
        execl("/bin/true", "true", NULL);
        _exit(1);
    }
    waitpid(child, &status, 0);
    report("vfork-exec", status == 0 ? 0 : -1);
    child = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
    if (child == 0) _exit(0);
    report("clone-user", child);
    child = (pid_t)syscall(SYS_clone, CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0);
    if (child == 0) _exit(0);
    report("clone-mount", child);
    report("clone3", syscall(SYS_clone3, NULL, 0));
    report("unshare", unshare(CLONE_FILES));
    report("unshare-user", unshare(CLONE_NEWUSER));
    report("setns", setns(-1, 0));
    char bytes[1] = {0}, copy[1];
    struct iovec here = {copy, 1}, there = {bytes, 1};
    report("process_vm_readv", process_vm_readv(getpid(), &here, 1, &there, 1, 0));
    report("process_vm_writev", process_vm_writev(getpid(), &here, 1, &there, 1, 0));
    report("ptrace", ptrace(PTRACE_PEEKUSER, getppid(), NULL, NULL));
    report("personality-query", personality(0xffffffff));
    report("personality", personality(ADDR_NO_RANDOMIZE));
    struct sched_param fifo = {.sched_priority = 1}, other = {0};
    report("sched-fifo", sched_setscheduler(0, SCHED_FIFO, &fifo));
    report("sched-other", sched_setscheduler(0, SCHED_OTHER, &other));
    report("nice", setpriority(PRIO_PROCESS, 0, 1));
    gid_t group = getgid();
    report("setresgid", setresgid(group, group, group));
    report("setfsgid", syscall(SYS_setfsgid, group));
    report("setuid", setuid(getuid()));
    report("setgroups", syscall(SYS_setgroups, 0, NULL));
}

static void try_files(const char *folder) {
    char path[4096];
    int directory = open(folder, O_RDONLY | O_DIRECTORY);
#define IN(name) (snprintf(path, sizeof path, "%s/%s", folder, name), path)
    int file = open(IN("file"), O_CREAT | O_RDWR, 0600);
    report("open", file);
    report("open-existing", syscall(SYS_openat, AT_FDCWD, IN("file"), O_RDONLY, 06777));
    report("openat-suid", openat(directory, "a", O_CREAT | O_WRONLY, 04700));
    report("openat-sgid", openat(directory, "b", O_CREAT | O_WRONLY, 02700));
    report("openat-tmpfile", openat(directory, ".", O_TMPFILE | O_RDWR, 0600));
    report("openat-tmpfile-suid", openat(directory, ".", O_TMPFILE | O_RDWR, 04700));
    struct open_how how = {.flags = O_RDONLY};
    report("openat2", syscall(SYS_openat2, AT_FDCWD, folder, &how, sizeof how));
    report("chmod", chmod(IN("file"), 0640));
    report("chmod-suid", chmod(IN("file"), 04755));
    report("fchmod-sgid", fchmod(file, 02755));
    report("fchmodat-suid", fchmodat(AT_FDCWD, IN("file"), 06755, 0));
    report("fchmodat2-suid", syscall(FCHMODAT2, AT_FDCWD, IN("file"), 04755, 0));
    report("mkdir", mkdir(IN("folder"), 01700));
    report("mkdir-sgid", mkdir(IN("folder2"), 02700));
    report("mkfifo", mkfifo(IN("fifo"), 0600));
    report("mkfifo-suid", mkfifo(IN("fifo2"), 04600));
#ifdef SYS_open
    report("old-open-suid", syscall(SYS_open, IN("c"), O_CREAT | O_WRONLY, 04700));
    report("old-creat-suid", syscall(SYS_creat, IN("d"), 04700));
#else
    printf("old-open-suid EPERM\nold-creat-suid EPERM\n");
#endif
    report("chown", chown(IN("file"), getuid(), getgid()));
    report("mount", syscall(SYS_mount, "none", folder, "tmpfs", 0, NULL));
    report("chroot", chroot("/"));
}

static void try_others(void) {
    report("io_uring", syscall(SYS_io_uring_setup, 0, NULL));
    report("bpf", syscall(SYS_bpf, -1, NULL, 0));
    report("keyctl", syscall(SYS_keyctl, 0, -3, 0));
    report("userfaultfd", syscall(SYS_userfaultfd, 0));
    report("perf", syscall(SYS_perf_event_open, NULL, 0, 0, -1, 0));
    report("unknown", syscall(UNKNOWN));
}

void keychaind_probe_try_all(const char *folder) {
    try_sockets();
    try_memory();
    try_processes();
    try_files(folder);
    try_others();
    fflush(stdout);
}

int keychaind_probe_call_foreign(void) {
#ifdef __x86_64__
    long result;
    // In 32-bit mode, call 20 is getpid.
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory");
    printf("still there\n");
    return 1;
#else
    return 0;
#endif
}

void keychaind_probe_become(char *const arguments[]) {
    execvp(arguments[0], arguments);
    perror(arguments[0]);
    exit(127);
}
