#pragma once

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

// epoll's event is a packed struct with a union, which Swift imports without its members' layout: these read and write it.

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

// A descriptor that can be read from an instant on, in nanoseconds since the system was started, sleep included.

static inline int keychaind_timer(void) { return timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK); }

static inline int keychaind_set_timer(int timer, int64_t instant) {
    struct itimerspec time = {.it_value = {.tv_sec = instant / 1000000000, .tv_nsec = instant % 1000000000}};
    return timerfd_settime(timer, TFD_TIMER_ABSTIME, &time, NULL);
}

// prctl is variadic.

static inline int keychaind_set_undumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

static inline int keychaind_set_no_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

// The group by which the calling thread opens files and looks into processes; 0 if it is that one now. A change of it sets whether the
// process can be dumped to what the system says, so that is set anew.

static inline int keychaind_set_file_group(gid_t group) {
    syscall(SYS_setfsgid, group);
    keychaind_set_undumpable();
    return syscall(SYS_setfsgid, (gid_t)-1) == (long)group ? 0 : -1;
}

// Whether a file can be used so by whom the process acts for, which access(2) does not tell of a set-gid process; -1 if not.

static inline int keychaind_can_access(const char *path, int mode) { return faccessat(AT_FDCWD, path, mode, 0x200); } // AT_EACCESS

// Only declared for _GNU_SOURCE; fails where the new name is taken.

static inline int keychaind_rename_if_free(int folder, const char *name, const char *new_name) {
    return (int)syscall(SYS_renameat2, folder, name, folder, new_name, 1 /* RENAME_NOREPLACE */);
}

// Declared only where _GNU_SOURCE is defined before the first system header, which a module cannot see to.

extern char *secure_getenv(const char *name);

static inline const char *keychaind_secure_getenv(const char *name) { return secure_getenv(name); }

// Sets of signals are macros.

static inline int keychaind_block_termination_signals(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    if (sigprocmask(SIG_BLOCK, &signals, NULL) != 0) return -1;
    return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

static inline void keychaind_unblock_termination_signals(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
}

static inline int keychaind_set_thread_name(const char *name) { return prctl(PR_SET_NAME, name, 0, 0, 0); }

// syscall is variadic, and glibc has a function for this one only since 2.36.

static inline int keychaind_process_descriptor(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

// glibc declares this for _GNU_SOURCE only, without which Swift imports its headers.

int execvpe(const char *program, char *const arguments[], char *const environment[]);

// posix_spawn cannot ask the kernel to end a program with its parent; else as it does. The program has a session of its own, the
// descriptor as its input and output, no others, the user's groups alone, and no signal blocked or ignored. It gets SIGTERM when the calling thread ends. The
// error is an errno; with one there is no process.

static inline pid_t keychaind_spawn(
    const char *program, char *const arguments[], char *const environment[], int descriptor, int *error
) {
    // Written by the child, which shares the memory until it has become another program.
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
    // Without the group of the domain, if there is one, for good. Not by the C library, which would change the parent's threads.
    gid_t group = getgid(), effective, saved;
    if (getegid() != group) syscall(SYS_setresgid, group, group, group);
    int is_users = syscall(SYS_getresgid, &group, &effective, &saved) == 0 && effective == group && saved == group;
    if (!is_users) errno = EPERM;
    // The memory is the parent's still, and the change of groups has set whether it can be dumped.
    keychaind_set_undumpable();
    int null = open("/dev/null", O_WRONLY);
    if (is_users && dup2(descriptor, STDIN_FILENO) >= 0 && dup2(descriptor, STDOUT_FILENO) >= 0 && dup2(null, STDERR_FILENO) >= 0
        && prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0) == 0 && getppid() == parent) {
        closefrom(STDERR_FILENO + 1);
        execvpe(program, arguments, environment);
    }
    status = errno;
    _exit(127);
}

// Declared for _GNU_SOURCE only, or in headers that cannot be included beside glibc's.

static const int keychaind_add_seals = 1033;
static const int keychaind_get_seals = 1034;
static const int keychaind_seals_of_size = 0x1 | 0x2 | 0x4; // SEAL, SHRINK, GROW

static inline int keychaind_memory_file(const char *name) {
    return (int)syscall(SYS_memfd_create, name, 0x1u | 0x2u); // CLOEXEC, ALLOW_SEALING
}

static inline int keychaind_accept(int listener) {
    return (int)syscall(SYS_accept4, listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

// The user on the other side of a socket, as the kernel has seen it; -1 if it cannot be told.

static inline int64_t keychaind_peer_user(int connection) {
    struct { pid_t process; uid_t user; gid_t group; } peer;
    socklen_t size = sizeof peer;
    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || size != sizeof peer) return -1;
    return peer.user;
}

// The same for the process; 0 if it cannot be told, or is out of sight. On a connection that was made by connect(2), it is the one that
// has called listen(2).

static inline pid_t keychaind_peer_process(int connection) {
    struct { pid_t process; uid_t user; gid_t group; } peer;
    socklen_t size = sizeof peer;
    if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || size != sizeof peer) return 0;
    return peer.process;
}

// What a message carries beside its bytes is laid out by macros.

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

// Which processors a thread may run on, a bit each; glibc declares these for _GNU_SOURCE only. For the benchmarks.

static inline int keychaind_get_processors(pid_t thread, void *bits, size_t size) {
    return syscall(SYS_sched_getaffinity, thread, size, bits) < 0 ? -1 : 0;
}

static inline int keychaind_set_processors(pid_t thread, const void *bits, size_t size) {
    return (int)syscall(SYS_sched_setaffinity, thread, size, bits);
}
