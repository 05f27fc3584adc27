#pragma once

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/stat.h>
#include <malloc.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

// Swift imports epoll_event, a packed struct with a union, without its layout; these access it.

static inline int keychaind_epoll_control(int poll, int operation, int descriptor, uint32_t events) {
    struct epoll_event event = {.events = events, .data = {.fd = descriptor}};
    return epoll_ctl(poll, operation, descriptor, &event);
}

static inline int keychaind_epoll_event_descriptor(const struct epoll_event *event) { return event->data.fd; }

static inline uint32_t keychaind_epoll_event_mask(const struct epoll_event *event) { return event->events; }

static const uint32_t keychaind_epoll_in = EPOLLIN;
static const uint32_t keychaind_epoll_out = EPOLLOUT;
static const uint32_t keychaind_epoll_error = EPOLLERR;
static const uint32_t keychaind_epoll_hangup = EPOLLHUP;

static inline int keychaind_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

// A timerfd of the boot clock, which runs while the system sleeps; instants are in nanoseconds.

static inline int keychaind_timer(void) { return timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK); }

static inline int keychaind_set_timer(int timer, int64_t instant) {
    struct itimerspec time = {.it_value = {.tv_sec = instant / 1000000000, .tv_nsec = instant % 1000000000}};
    return timerfd_settime(timer, TFD_TIMER_ABSTIME, &time, NULL);
}

// prctl is variadic.

static inline int keychaind_set_undumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

static inline int keychaind_set_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

// Sets the group with which the calling thread opens files and inspects processes; returns 0 on success. The change
// resets the dumpable flag to the system default, so it is cleared again.

static inline int keychaind_set_file_group(gid_t group) {
    syscall(SYS_setfsgid, group);
    keychaind_set_undumpable();
    return syscall(SYS_setfsgid, (gid_t)-1) == (long)group ? 0 : -1;
}

static inline gid_t keychaind_file_group(void) { return (gid_t)syscall(SYS_setfsgid, (gid_t)-1); }

// Whether the effective user and group can access a file, whereas access(2) checks the real ones; -1 if not.

static inline int keychaind_can_access(const char *path, int mode) {
    return faccessat(AT_FDCWD, path, mode, 0x200); // AT_EACCESS
}

// Declared only for _GNU_SOURCE. Fails if the new name exists.

extern int renameat2(int old_folder, const char *name, int new_folder, const char *new_name, unsigned int flags);

static inline int keychaind_rename_if_free(int folder, const char *name, const char *new_name) {
    return renameat2(folder, name, folder, new_name, 1 /* RENAME_NOREPLACE */);
}

// Declared only if _GNU_SOURCE is defined before the first system header, which a module cannot ensure.

extern char *secure_getenv(const char *name);

static inline const char *keychaind_secure_getenv(const char *name) { return secure_getenv(name); }

// Signal sets are manipulated by macros.

static inline int keychaind_block_termination_signals(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    if (sigprocmask(SIG_BLOCK, &signals, NULL) != 0) return -1;
    return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

static inline void keychaind_mask_termination_signals(int how) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(how, &signals, NULL);
}

static inline void keychaind_unblock_termination_signals(void) { keychaind_mask_termination_signals(SIG_UNBLOCK); }

// For a blocking call of the only thread: both end the process at once, as nothing is open yet.

static inline void keychaind_exit_at_signal(int number) { _exit(0); }

static inline void keychaind_end_at_termination_signals(void) {
    signal(SIGTERM, keychaind_exit_at_signal);
    signal(SIGINT, keychaind_exit_at_signal);
    keychaind_mask_termination_signals(SIG_UNBLOCK);
}

static inline void keychaind_keep_termination_signals(void) {
    keychaind_mask_termination_signals(SIG_BLOCK);
    signal(SIGTERM, SIG_DFL);
    signal(SIGINT, SIG_DFL);
}

static inline int keychaind_set_thread_name(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }

#if defined(__x86_64__)

__attribute__((noinline, target("avx"))) static void keychaind_wipe_avx_registers(void) {
    __asm__ volatile("vzeroall" ::: "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
                     "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

// Those that vzeroall leaves as they are. No compiler keeps anything in them across a call.
__attribute__((noinline, target("avx512f"))) static void keychaind_wipe_avx512_registers(void) {
    __asm__ volatile(".irp n, 16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n\t"
                     "vpxord %%zmm\\n, %%zmm\\n, %%zmm\\n\n\t"
                     ".endr" ::);
}

#endif

// Overwrites the vector registers, where copying and ciphers leave pieces of a secret. Whatever saves registers on the
// stack, such as the first call of a library's function, would keep them.
static inline void keychaind_wipe_vector_registers(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx")) {
        keychaind_wipe_avx_registers();
    } else {
        __asm__ volatile(".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n\t"
                         "pxor %%xmm\\n, %%xmm\\n\n\t"
                         ".endr" ::: "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
                         "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
    }
    if (__builtin_cpu_supports("avx512f")) keychaind_wipe_avx512_registers();
#elif defined(__aarch64__)
    __asm__ volatile(".irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n\t"
                     "movi v\\n\\().2d, #0\n\t"
                     ".endr" ::: "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13",
                     "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27",
                     "v28", "v29", "v30", "v31");
#endif
}

// Overwrites what calls that have returned left in vector registers and on the stack: pieces of a secret may be there.
__attribute__((noinline)) static void keychaind_wipe_stack_and_registers(void) {
    char remains[64 * 1024];
    keychaind_wipe_vector_registers();
    explicit_bzero(remains, sizeof remains);
}

// syscall is variadic; glibc wraps this call only since 2.36.

static inline int keychaind_process_descriptor(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

// glibc declares these only for _GNU_SOURCE, which Swift's import lacks.

int execvpe(const char *program, char *const arguments[], char *const environment[]);
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int first);

// Like posix_spawn, but the kernel sends SIGTERM to the program when the calling thread ends. The program gets a
// session of its own, the descriptors as 0, 1 and so on (-1 is /dev/null) and no others, and default signal handling.
// With `keeps_group` it keeps the group of the domain, so that no program of the user can trace it. Then it gets no
// SIGTERM, and has to give the group up itself. Sets `error` to an errno if no process was started.

static inline pid_t keychaind_spawn_with(
    const char *program, char *const arguments[], char *const environment[], const int *descriptors, int count,
    int keeps_group, int *error
) {
    // Written by the child, which shares the memory until execve.
    volatile int status = 0;
    pid_t parent = getpid();
    pid_t child = vfork();
    if (child != 0) {
        *error = child < 0 ? errno : status;
        if (status != 0) waitpid(child, NULL, 0);
        return child;
    }
    sigset_t signals;
    sigemptyset(&signals);
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigprocmask(SIG_SETMASK, &signals, NULL);
    setsid();
    // Permanently drops the group of the domain, if there is one, by system call: the C library would change the
    // threads of the parent too.
    gid_t group = getgid(), effective, saved;
    if (!keeps_group && getegid() != group) syscall(SYS_setresgid, group, group, group);
    int is_users = syscall(SYS_getresgid, &group, &effective, &saved) == 0
        && (keeps_group || (effective == group && saved == group));
    if (!is_users) errno = EPERM;
    // The memory is still shared with the parent, and the change of groups reset the dumpable flag.
    keychaind_set_undumpable();
    int copies[8];
    int are_copied = is_users && count <= (int)(sizeof copies / sizeof *copies);
    for (int number = 0; are_copied && number < count; number++) {
        int descriptor = descriptors[number] < 0 ? open("/dev/null", O_RDWR) : descriptors[number];
        // Above all targets, so that none overwrites another.
        copies[number] = fcntl(descriptor, F_DUPFD, count);
        are_copied = copies[number] >= 0;
    }
    for (int number = 0; are_copied && number < count; number++) are_copied = dup2(copies[number], number) >= 0;
    if (are_copied && prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0) == 0 && getppid() == parent) {
        closefrom(count);
        execvpe(program, arguments, environment);
    }
    status = errno;
    _exit(127);
}

// Likewise, with only the groups of the user.

static inline pid_t keychaind_spawn(
    const char *program, char *const arguments[], char *const environment[], const int *descriptors, int count,
    int *error
) {
    return keychaind_spawn_with(program, arguments, environment, descriptors, count, 0, error);
}

// Declared only for _GNU_SOURCE, or in headers that conflict with those of glibc.

static const int keychaind_add_seals = 1033;
static const int keychaind_get_seals = 1034;
static const int keychaind_seals_of_size = 0x1 | 0x2 | 0x4; // SEAL, SHRINK, GROW

static inline int keychaind_memory_file(const char *name) {
    return (int)syscall(SYS_memfd_create, name, 0x1u | 0x2u); // CLOEXEC, ALLOW_SEALING
}

static inline int keychaind_accept(int listener) {
    return (int)syscall(SYS_accept4, listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

// When a file was made, in seconds since 1970; 0 if the file system does not say, or is of layers (overlayfs), where
// the first change of a file makes another one. glibc declares statx only for _GNU_SOURCE.

static inline int64_t keychaind_birth(const char *path) {
    struct statfs system;
    struct statx status;
    if (statfs(path, &system) != 0 || system.f_type == OVERLAYFS_SUPER_MAGIC) return 0;
    if (syscall(SYS_statx, AT_FDCWD, path, 0, STATX_BTIME, &status) != 0) return 0;
    return status.stx_mask & STATX_BTIME ? status.stx_btime.tv_sec : 0;
}

// The user of the peer of a socket, from the kernel; -1 if unknown.

static inline int64_t keychaind_peer_user(int connection) {
    struct { pid_t process; uid_t user; gid_t group; } peer;
    socklen_t size = sizeof peer;
    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || size != sizeof peer) return -1;
    return peer.user;
}

// The process of the peer, from the kernel; 0 if unknown or in another PID namespace. For a connection made by
// connect(2), this is the process that called listen(2).

static inline pid_t keychaind_peer_process(int connection) {
    struct { pid_t process; uid_t user; gid_t group; } peer;
    socklen_t size = sizeof peer;
    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || size != sizeof peer) return 0;
    return peer.process;
}

// Whether the kernel says who has sent what is received on a socket.

static inline int keychaind_pass_credentials(int socket, int passes) {
    return setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &passes, sizeof passes);
}

// The process that has sent what is received next; 0 if unknown, as for what came before credentials were passed. For a
// socket that systemd opened, it is the program that serves there, while listen(2) was called by systemd.

static inline pid_t keychaind_next_sender(int socket) {
    struct { pid_t process; uid_t user; gid_t group; } sender;
    char byte;
    // Without room for descriptors, which a look would receive, too.
    union { struct cmsghdr header; char bytes[CMSG_SPACE(sizeof sender)]; } control;
    struct iovec vector = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    if (recvmsg(socket, &message, MSG_PEEK | MSG_DONTWAIT) <= 0) return 0;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    const int credentials = 2; // SCM_CREDENTIALS
    if (!header || header->cmsg_level != SOL_SOCKET || header->cmsg_type != credentials) return 0;
    memcpy(&sender, CMSG_DATA(header), sizeof sender);
    return sender.process;
}

// Ancillary data of messages is laid out by macros.

static inline long keychaind_send_descriptor(
    int socket, const struct sockaddr *address, socklen_t length, const void *bytes, size_t count, int descriptor
) {
    char control[CMSG_SPACE(sizeof(int))];
    struct iovec vector = {.iov_base = (void *)bytes, .iov_len = count};
    struct msghdr message = {
        .msg_name = (void *)address, .msg_namelen = length, .msg_iov = &vector, .msg_iovlen = 1,
        .msg_control = control, .msg_controllen = sizeof control,
    };
    memset(control, 0, sizeof control);
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    return sendmsg(socket, &message, MSG_NOSIGNAL);
}

// The CPU affinity of a thread, a bit per CPU, for the benchmarks; glibc declares these only for _GNU_SOURCE.

static inline int keychaind_get_processors(pid_t thread, void *bits, size_t size) {
    return syscall(SYS_sched_getaffinity, thread, size, bits) < 0 ? -1 : 0;
}

static inline int keychaind_set_processors(pid_t thread, const void *bits, size_t size) {
    return (int)syscall(SYS_sched_setaffinity, thread, size, bits);
}
