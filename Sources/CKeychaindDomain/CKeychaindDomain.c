// The first instructions of the process, before those of any library, and the start of helpers. See docs/domain.md.

#define _GNU_SOURCE

#include "CKeychaindDomain.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// The variables that a set-gid keychaind keeps, each for a reason. Nothing else stays: no variable of the loader, the
// Swift runtime (SWIFT_*), malloc, the TPM libraries (TSS2_*), and no path of locales or temporary files. HOME, USER
// and LOGNAME are set from the user database, PATH to a constant (DomainEnvironment.swift).
static const char *const kept[] = {
    // The bus to serve; SessionBusAddress.swift accepts only sockets.
    "DBUS_SESSION_BUS_ADDRESS",
    // systemd's readiness protocol, sockets, kept descriptors, journal and credentials.
    "NOTIFY_SOCKET", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PIDFDID", "JOURNAL_STREAM",
    "CREDENTIALS_DIRECTORY",
    // The folders of the user, accessed with the rights of the user.
    "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
    // The desktop, which selects the prompter, and the session for logind.
    "XDG_CURRENT_DESKTOP", "XDG_SESSION_ID", "XDG_SESSION_TYPE", "XDG_SESSION_CLASS", "XDG_SESSION_DESKTOP",
    "DESKTOP_SESSION",
    // The display of a pinentry, which runs without the group.
    "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
};

// The language of a pinentry. A value with a slash would be a path to locale files.
static const char *const languages[] = {"LANG", "LANGUAGE"};

// Longer than any legitimate variable.
enum { longest_variable = 4096 };

static bool is_named(const char *variable, size_t length, const char *name) {
    return strlen(name) == length && memcmp(variable, name, length) == 0;
}

static bool is_kept(const char *variable) {
    const char *separator = strchr(variable, '=');
    if (!separator || strlen(variable) > longest_variable) return false;
    size_t length = (size_t)(separator - variable);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (is_named(variable, length, kept[i])) return true;
    bool is_language = length > 3 && memcmp(variable, "LC_", 3) == 0;
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++)
        if (is_named(variable, length, languages[i])) is_language = true;
    return is_language && !strchr(separator, '/');
}

static bool is_twin(char *const *first, char *const *end, const char *variable) {
    size_t length = (size_t)(strchr(variable, '=') - variable) + 1;
    for (; first != end; first++)
        if (strncmp(*first, variable, length) == 0) return true;
    return false;
}

// Modifies the array in place: the C library uses this same array afterwards.
static void clean_environment(char **environment) {
    char **end = environment;
    for (char **next = environment; *next; next++)
        if (is_kept(*next) && !is_twin(environment, end, *next)) *end++ = *next;
    *end = NULL;
}

// Otherwise the first opened file, such as a keychain, would become standard error.
static void open_standard_descriptors(void) {
    for (int descriptor = 0; descriptor <= 2; descriptor++) {
        if (fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
        // The lowest free descriptor, since those below are open.
        if (open("/dev/null", O_RDWR) != descriptor) _exit(71);
    }
}

// The caller may have left signals ignored or blocked. Of the ignored ones only SIGCHLD matters: it hides exit
// statuses.
static void reset_signals(void) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGCHLD, SIG_DFL);
}

static void begin(int count, char **arguments, char **environment) {
    (void)count, (void)arguments;
    open_standard_descriptors();
    if (!keychaind_is_privileged()) return;
    clean_environment(environment);
    reset_signals();
}

// Runs before the constructors of all libraries.
__attribute__((section(".preinit_array"), used)) static void (*beginning)(int, char **, char **) = begin;

int keychaind_is_privileged(void) { return getauxval(AT_SECURE) != 0; }

int keychaind_give_up_group(gid_t user_group) {
    gid_t real, effective, saved;
    if (setresgid(user_group, user_group, user_group) != 0) return errno;
    if (getresgid(&real, &effective, &saved) != 0) return errno;
    return real == user_group && effective == user_group && saved == user_group ? 0 : EPERM;
}

int keychaind_open_program(const char *path) { return open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC); }

pid_t keychaind_start_helper(int program, const char *name, int output, int *error) {
    char *arguments[] = {(char *)name, NULL};
    char *environment[] = {NULL};
    // Written by the child, which shares the memory until execve.
    volatile int status = 0;
    pid_t child = vfork();
    if (child != 0) {
        *error = child < 0 ? errno : status;
        if (child > 0 && status != 0) waitpid(child, NULL, 0);
        return child;
    }
    int null = open("/dev/null", O_RDWR);
    // Clear of the descriptors that are replaced below.
    int file = fcntl(program, F_DUPFD_CLOEXEC, 10);
    if (null >= 0 && file >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0
        && dup2(output, STDERR_FILENO) >= 0 && dup3(file, STDERR_FILENO + 1, O_CLOEXEC) >= 0) {
        closefrom(STDERR_FILENO + 2);
        syscall(SYS_execveat, STDERR_FILENO + 1, "", arguments, environment, AT_EMPTY_PATH);
    }
    status = errno;
    _exit(127);
}
