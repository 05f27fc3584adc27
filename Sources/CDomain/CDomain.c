// The first instructions of the process, before any library's, and what a set-gid process starts. See docs/domain.md.

#define _GNU_SOURCE

#include "CDomain.h"

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

// Variables that a set-gid keychaind keeps, each for a reason. Nothing else stays: no variable of the loader, of the Swift runtime
// (SWIFT_*), of malloc, of SQLite (SQLITE_TMPDIR), of the TPM's libraries (TSS2_*), of locales' paths or of temporary files.
// HOME, USER, LOGNAME and PATH are set anew from the user database (DomainEnvironment.swift).
static const char *const kept[] = {
    // The bus to serve; SessionBusAddress.swift takes sockets only.
    "DBUS_SESSION_BUS_ADDRESS",
    // What systemd says and gives: readiness, sockets, kept descriptors, the journal, the password as a credential.
    "NOTIFY_SOCKET", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "LISTEN_PIDFDID", "JOURNAL_STREAM", "CREDENTIALS_DIRECTORY",
    // The user's folders, which are looked into with the user's rights.
    "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
    // Which prompter suits the desktop, and which session logind is asked about.
    "XDG_CURRENT_DESKTOP", "XDG_SESSION_ID", "XDG_SESSION_TYPE", "XDG_SESSION_CLASS", "XDG_SESSION_DESKTOP", "DESKTOP_SESSION",
    // Where a pinentry, which runs without the group, shows its window.
    "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY",
};

// The language of a pinentry. A value with a slash would be a path of locale files.
static const char *const languages[] = {"LANG", "LANGUAGE"};

// Longer than any value that one of these has.
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

// In place: the C library takes over this very array after us.
static void clean_environment(char **environment) {
    char **end = environment;
    for (char **next = environment; *next; next++)
        if (is_kept(*next) && !is_twin(environment, end, *next)) *end++ = *next;
    *end = NULL;
}

// Otherwise the first file that is opened, such as a keychain, would become the standard error.
static void open_standard_descriptors(void) {
    for (int descriptor = 0; descriptor <= 2; descriptor++) {
        if (fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
        // The lowest free number, since those below are open.
        if (open("/dev/null", O_RDWR) != descriptor) _exit(71);
    }
}

// A caller may have left signals ignored or blocked. Of the ignored ones, only SIGCHLD changes what the process can find out.
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

// Before the constructors of all libraries.
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
    // Written by the child, which shares the memory until it has become another program.
    volatile int status = 0;
    pid_t child = vfork();
    if (child != 0) {
        *error = child < 0 ? errno : status;
        if (child > 0 && status != 0) waitpid(child, NULL, 0);
        return child;
    }
    int null = open("/dev/null", O_RDWR);
    // Away from the numbers that are about to be taken.
    int file = fcntl(program, F_DUPFD_CLOEXEC, 10);
    if (null >= 0 && file >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0
        && dup2(output, STDERR_FILENO) >= 0 && dup3(file, STDERR_FILENO + 1, O_CLOEXEC) >= 0) {
        closefrom(STDERR_FILENO + 2);
        syscall(SYS_execveat, STDERR_FILENO + 1, "", arguments, environment, AT_EMPTY_PATH);
    }
    status = errno;
    _exit(127);
}
