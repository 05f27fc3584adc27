// A disk that fails, below the program's file functions: a library for LD_PRELOAD.
//
//     cc -shared -fPIC -O1 -o faults.so faults.c -ldl
//     KEYCHAIND_FAULTS=CONTROL LD_PRELOAD=faults.so keychaind …
//
// CONTROL is a file of one page that the test changes while the program runs (struct control). Only files below
// its folder are concerned. It also sets the clock of the day. With KEYCHAIND_FAULTS_TRACE=FILE, each change of a
// folder and each sync is a line in FILE.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum operation {
    OPEN = 1, READ = 2, WRITE = 4, SYNC = 8, TRUNCATE = 16, RENAME = 32, UNLINK = 64, FOLDER_SYNC = 128,
    STAT = 256,
};

enum mode {
    FAIL = 1,  // not done, and an error
    SHORT = 2, // half of the bytes, and their number
    TORN = 3,  // half of the bytes or the whole operation, and an error
    DELAY = 4, // done, later
    LIE = 5,   // not done, and success
    KILL = 6,  // not done, and the process ends at once
};

struct control {
    char folder[512];
    _Atomic int32_t operations;
    _Atomic int32_t countdown; // the number of the operation that fails, from 1; 0 for none
    _Atomic int32_t mode;
    _Atomic int32_t error;
    _Atomic int32_t repeat; // how many in a row fail
    _Atomic int32_t seen;
    _Atomic int32_t fired;
    _Atomic int64_t clock; // the seconds by which the clock of the day differs from the real one
};

static struct control *control;
static int trace = -1;

enum { DESCRIPTORS = 65536 };
static _Atomic unsigned char kinds[DESCRIPTORS]; // 0 not ours, 1 a file, 2 a folder

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, name)

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("KEYCHAIND_FAULTS");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file >= 0) {
        void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (page != MAP_FAILED) control = page;
        close(file);
    }
    path = getenv("KEYCHAIND_FAULTS_TRACE");
    if (path) trace = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

static int is_ours(const char *path) {
    if (!control || !path || path[0] != '/') return 0;
    size_t length = strnlen(control->folder, sizeof control->folder);
    return length && !strncmp(path, control->folder, length) && (path[length] == '/' || !path[length]);
}

// The absolute path of a name in an open folder.
static const char *resolve(int folder, const char *name, char buffer[PATH_MAX * 2]) {
    if (!name || name[0] == '/' || folder == AT_FDCWD) return name;
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t length = readlink(link, buffer, PATH_MAX - 1);
    if (length < 0) return NULL;
    snprintf(buffer + length, PATH_MAX, "/%s", name);
    return buffer;
}

static int kind_of(int descriptor) {
    return descriptor >= 0 && descriptor < DESCRIPTORS ? kinds[descriptor] : 0;
}

static void say(const char *what, const char *first, const char *second) {
    if (trace < 0) return;
    char line[PATH_MAX * 2 + 64];
    int length = snprintf(line, sizeof line, "%s\t%s\t%s\n", what, first ? first : "", second ? second : "");
    REAL(ssize_t, "write", int, const void *, size_t);
    if (length > 0 && real(trace, line, (size_t)length) < 0) trace = -1;
}

// The mode of an operation that is due to fail now; 0 for none.
static int due(enum operation operation) {
    if (!control || !(control->operations & operation)) return 0;
    int32_t first = control->countdown;
    if (first <= 0) return 0;
    int32_t number = ++control->seen;
    if (number < first || number - first >= control->repeat) return 0;
    control->fired++;
    // As with SIGKILL, nothing of the program runs any more.
    if (control->mode == KILL) _exit(137);
    if (control->mode == DELAY) {
        struct timespec pause = {0, 50 * 1000 * 1000};
        nanosleep(&pause, NULL);
        return 0;
    }
    return control->mode;
}

static int failed(void) {
    errno = control->error ? control->error : EIO;
    return -1;
}

// An operation without bytes: `body` does it.
#define WHOLE(operation, body) \
    switch (due(operation)) { \
    case FAIL: return failed(); \
    case TORN: if ((body) < 0) return -1; return failed(); \
    case LIE: return 0; \
    default: return body; \
    }

static int opened(int descriptor, const char *path, int flags) {
    if (descriptor >= 0 && descriptor < DESCRIPTORS) {
        kinds[descriptor] = is_ours(path) ? (flags & O_DIRECTORY ? 2 : 1) : 0;
        if (kinds[descriptor] && flags & O_CREAT && flags & O_EXCL) say("create", path, NULL);
    }
    return descriptor;
}

#define MODE_ARGUMENT \
    mode_t mode = 0; \
    if (flags & (O_CREAT | __O_TMPFILE)) { \
        va_list list; \
        va_start(list, flags); \
        mode = va_arg(list, mode_t); \
        va_end(list); \
    }

#define OPEN_FUNCTION(name) \
    int name(const char *path, int flags, ...) { \
        MODE_ARGUMENT \
        REAL(int, #name, const char *, int, ...); \
        if (is_ours(path)) { \
            int found = due(OPEN); \
            if (found == FAIL || found == TORN) return failed(); \
        } \
        return opened(real(path, flags, mode), path, flags); \
    }
OPEN_FUNCTION(open)
OPEN_FUNCTION(open64)

#define OPENAT_FUNCTION(name) \
    int name(int folder, const char *file, int flags, ...) { \
        MODE_ARGUMENT \
        REAL(int, #name, int, const char *, int, ...); \
        char buffer[PATH_MAX * 2]; \
        const char *path = resolve(folder, file, buffer); \
        if (is_ours(path)) { \
            int found = due(OPEN); \
            if (found == FAIL || found == TORN) return failed(); \
        } \
        return opened(real(folder, file, flags, mode), path, flags); \
    }
OPENAT_FUNCTION(openat)
OPENAT_FUNCTION(openat64)

int close(int descriptor) {
    REAL(int, "close", int);
    if (descriptor >= 0 && descriptor < DESCRIPTORS) kinds[descriptor] = 0;
    return real(descriptor);
}

// `call` makes the operation with `count` bytes.
#define BYTES(operation, descriptor, count, call) \
    if (kind_of(descriptor) != 1) return call; \
    size_t whole = count; \
    switch (due(operation)) { \
    case FAIL: return failed(); \
    case SHORT: if (count > 1) count /= 2; return call; \
    case TORN: count /= 2; if (call < 0) return -1; return failed(); \
    case LIE: if (operation == READ) memset((void *)bytes, 0, whole); return (ssize_t)whole; \
    default: return call; \
    }

#define READ_FUNCTION(name, offset_type) \
    ssize_t name(int descriptor, void *bytes, size_t count, offset_type offset) { \
        REAL(ssize_t, #name, int, void *, size_t, offset_type); \
        BYTES(READ, descriptor, count, real(descriptor, bytes, count, offset)) \
    }
READ_FUNCTION(pread, off_t)
READ_FUNCTION(pread64, off64_t)

ssize_t read(int descriptor, void *bytes, size_t count) {
    REAL(ssize_t, "read", int, void *, size_t);
    BYTES(READ, descriptor, count, real(descriptor, bytes, count))
}

#define WRITE_FUNCTION(name, offset_type) \
    ssize_t name(int descriptor, const void *bytes, size_t count, offset_type offset) { \
        REAL(ssize_t, #name, int, const void *, size_t, offset_type); \
        BYTES(WRITE, descriptor, count, real(descriptor, bytes, count, offset)) \
    }
WRITE_FUNCTION(pwrite, off_t)
WRITE_FUNCTION(pwrite64, off64_t)

ssize_t write(int descriptor, const void *bytes, size_t count) {
    REAL(ssize_t, "write", int, const void *, size_t);
    BYTES(WRITE, descriptor, count, real(descriptor, bytes, count))
}

// Files are as old as the program would find them with that clock.
static void set_time(int descriptor) {
    if (!control->clock) return;
    struct timespec times[2];
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[1] = times[0];
    futimens(descriptor, times);
}

#define SYNC_FUNCTION(name) \
    int name(int descriptor) { \
        REAL(int, #name, int); \
        int kind = kind_of(descriptor); \
        if (!kind) return real(descriptor); \
        if (kind == 1) set_time(descriptor); \
        if (kind == 2) say("sync", NULL, NULL); \
        WHOLE(kind == 2 ? FOLDER_SYNC : SYNC, real(descriptor)) \
    }
SYNC_FUNCTION(fsync)
SYNC_FUNCTION(fdatasync)

#define TRUNCATE_FUNCTION(name, offset_type) \
    int name(int descriptor, offset_type length) { \
        REAL(int, #name, int, offset_type); \
        if (kind_of(descriptor) != 1) return real(descriptor, length); \
        WHOLE(TRUNCATE, real(descriptor, length)) \
    }
TRUNCATE_FUNCTION(ftruncate, off_t)
TRUNCATE_FUNCTION(ftruncate64, off64_t)

int truncate(const char *path, off_t length) {
    REAL(int, "truncate", const char *, off_t);
    if (!is_ours(path)) return real(path, length);
    WHOLE(TRUNCATE, real(path, length))
}

int rename(const char *old, const char *new) {
    REAL(int, "rename", const char *, const char *);
    if (!is_ours(old)) return real(old, new);
    say("rename", old, new);
    WHOLE(RENAME, real(old, new))
}

int renameat(int old_folder, const char *old, int new_folder, const char *new) {
    REAL(int, "renameat", int, const char *, int, const char *);
    char first[PATH_MAX * 2], second[PATH_MAX * 2];
    const char *path = resolve(old_folder, old, first);
    if (!is_ours(path)) return real(old_folder, old, new_folder, new);
    say("rename", path, resolve(new_folder, new, second));
    WHOLE(RENAME, real(old_folder, old, new_folder, new))
}

int renameat2(int old_folder, const char *old, int new_folder, const char *new, unsigned flags) {
    REAL(int, "renameat2", int, const char *, int, const char *, unsigned);
    char first[PATH_MAX * 2], second[PATH_MAX * 2];
    const char *path = resolve(old_folder, old, first);
    if (!is_ours(path)) return real(old_folder, old, new_folder, new, flags);
    say("rename", path, resolve(new_folder, new, second));
    WHOLE(RENAME, real(old_folder, old, new_folder, new, flags))
}

int link(const char *old, const char *new) {
    REAL(int, "link", const char *, const char *);
    if (!is_ours(old)) return real(old, new);
    say("link", old, new);
    WHOLE(RENAME, real(old, new))
}

int unlink(const char *path) {
    REAL(int, "unlink", const char *);
    if (!is_ours(path)) return real(path);
    say("unlink", path, NULL);
    WHOLE(UNLINK, real(path))
}

int unlinkat(int folder, const char *name, int flags) {
    REAL(int, "unlinkat", int, const char *, int);
    char buffer[PATH_MAX * 2];
    const char *path = resolve(folder, name, buffer);
    if (!is_ours(path)) return real(folder, name, flags);
    say("unlink", path, NULL);
    WHOLE(UNLINK, real(folder, name, flags))
}

// A look at what a path leads to, made by `call`; a lie tells of a file without type, size, times and number.
#define LOOK(status, call) \
    switch (due(STAT)) { \
    case FAIL: \
    case TORN: return failed(); \
    case LIE: memset(status, 0, sizeof *status); return 0; \
    default: return call; \
    }

#define STAT_FUNCTION(name, type) \
    int name(const char *path, struct type *status) { \
        REAL(int, #name, const char *, struct type *); \
        if (!is_ours(path)) return real(path, status); \
        LOOK(status, real(path, status)) \
    }
STAT_FUNCTION(stat, stat)
STAT_FUNCTION(stat64, stat64)
STAT_FUNCTION(lstat, stat)
STAT_FUNCTION(lstat64, stat64)

#define FSTATAT_FUNCTION(name, type) \
    int name(int folder, const char *file, struct type *status, int flags) { \
        REAL(int, #name, int, const char *, struct type *, int); \
        char buffer[PATH_MAX * 2]; \
        if (!is_ours(resolve(folder, file, buffer))) return real(folder, file, status, flags); \
        LOOK(status, real(folder, file, status, flags)) \
    }
FSTATAT_FUNCTION(fstatat, stat)
FSTATAT_FUNCTION(fstatat64, stat64)

int statx(int folder, const char *file, int flags, unsigned mask, struct statx *status) {
    REAL(int, "statx", int, const char *, int, unsigned, struct statx *);
    char buffer[PATH_MAX * 2];
    if (!is_ours(resolve(folder, file, buffer))) return real(folder, file, flags, mask, status);
    LOOK(status, real(folder, file, flags, mask, status))
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    REAL(int, "clock_gettime", clockid_t, struct timespec *);
    int status = real(clock, time);
    if (!status && control && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += control->clock;
    return status;
}

time_t time(time_t *result) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (result) *result = now.tv_sec;
    return now.tv_sec;
}
