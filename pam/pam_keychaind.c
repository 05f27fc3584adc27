// pam_keychaind: passes the password of a login to the keychaind of the user. docs/pam.md defines the protocol.
//
// As a module of login programs it starts and asks nothing, never denies a login, and takes at most two seconds.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/openat2.h>
#include <poll.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include <security/pam_ext.h>
#include <security/pam_modules.h>
#include <security/pam_modutil.h>

enum {
    password_limit = 1024,
    user_limit = 256,
    milliseconds_in_all = 2000,
    // The time reserved for the session that follows a password change.
    milliseconds_for_session = 500,
    milliseconds_between_looks = 20,
    // The group has no members by name, so its entry is short.
    group_limit = 16384,
};

enum operation { operation_unlock = 1, operation_change = 2 };

enum status { status_taken = 0, status_changed = 1 };

static const unsigned char magic[8] = {'K', 'C', 'H', 'N', 'P', 'A', 'M', 1};

struct frame {
    unsigned char magic[8];
    unsigned char operation[4];
    unsigned char length[2];
    unsigned char new_length[2];
    unsigned char password[password_limit];
    unsigned char new_password[password_limit];
};

struct reply {
    unsigned char magic[8];
    unsigned char status[4];
    unsigned char collections[4];
};

_Static_assert(sizeof(struct frame) == 2064 && sizeof(struct reply) == 16, "the protocol has no padding");

// The pending requests of a PAM transaction, in locked memory.
struct login {
    char user[user_limit];
    bool has_password;
    bool has_change;
    int milliseconds_left;
    struct frame unlock;
    struct frame change;
};

static const char data_name[] = "keychaind-login";

static void forget(struct frame *frame, bool *is_there) {
    explicit_bzero(frame, sizeof *frame);
    *is_there = false;
}

static void free_login(pam_handle_t *pam, void *data, int error) {
    (void)pam;
    (void)error;
    explicit_bzero(data, sizeof(struct login));
    munmap(data, sizeof(struct login));
}

// The login of this transaction and user. After a change of the user, as with sudo, the data of the old one is wiped.
static struct login *find_login(pam_handle_t *pam) {
    const char *user = NULL;
    const void *data = NULL;
    if (pam_get_item(pam, PAM_USER, (const void **)&user) != PAM_SUCCESS || user == NULL) return NULL;
    if (pam_get_data(pam, data_name, &data) != PAM_SUCCESS || data == NULL) return NULL;
    struct login *login = (struct login *)data;
    if (strcmp(login->user, user) != 0) {
        forget(&login->unlock, &login->has_password);
        forget(&login->change, &login->has_change);
        return NULL;
    }
    return login;
}

static struct login *make_login(pam_handle_t *pam) {
    struct login *login = find_login(pam);
    const char *user = NULL;
    if (login != NULL) return login;
    if (pam_get_item(pam, PAM_USER, (const void **)&user) != PAM_SUCCESS || user == NULL) return NULL;
    if (strlen(user) >= user_limit) return NULL;
    login = mmap(NULL, sizeof *login, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (login == MAP_FAILED) return NULL;
    // Better no password than one in swap space or a core file.
    if (mlock(login, sizeof *login) != 0 || madvise(login, sizeof *login, MADV_DONTDUMP) != 0) {
        pam_syslog(pam, LOG_NOTICE, "no locked memory for a password: %s", strerror(errno));
        munmap(login, sizeof *login);
        return NULL;
    }
    strcpy(login->user, user);
    login->milliseconds_left = milliseconds_in_all;
    if (pam_set_data(pam, data_name, login, free_login) != PAM_SUCCESS) {
        free_login(pam, login, 0);
        return NULL;
    }
    return login;
}

// The password that an earlier module has obtained; NULL if there is none, as with a fingerprint.
static const char *given(pam_handle_t *pam, int item) {
    const void *password = NULL;
    if (pam_get_item(pam, item, &password) != PAM_SUCCESS || password == NULL) return NULL;
    size_t length = strlen(password);
    return length > 0 && length <= password_limit ? password : NULL;
}

static void fill(struct frame *frame, enum operation operation, const char *password, const char *new_password) {
    size_t length = strlen(password), new_length = strlen(new_password);
    memset(frame, 0, sizeof *frame);
    memcpy(frame->magic, magic, sizeof magic);
    frame->operation[3] = operation;
    frame->length[0] = length >> 8;
    frame->length[1] = length & 0xff;
    frame->new_length[0] = new_length >> 8;
    frame->new_length[1] = new_length & 0xff;
    memcpy(frame->password, password, length);
    memcpy(frame->new_password, new_password, new_length);
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

// Opens a path below a folder without following links or crossing mounts; closes the folder.
static int open_below(int folder, const char *path) {
    struct open_how how = {
        .flags = O_PATH | O_CLOEXEC | O_NOFOLLOW,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
    };
    int found = (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
    int error = errno;
    close(folder);
    errno = error;
    return found;
}

// Returns the descriptor if it is a socket of the user; otherwise closes it.
static int check_socket(int found, uid_t user) {
    struct stat status;
    if (found < 0) return -1;
    if (fstat(found, &status) == 0 && S_ISSOCK(status.st_mode) && status.st_uid == user) return found;
    close(found);
    return errno = EPERM, -1;
}

// Opens the socket itself, so that its name cannot be redirected before connecting: below the runtime folder of the
// user, without links or mounts, and owned by the user.
static int find_socket(const char *runtime, uid_t user) {
    char folder[128];
    struct stat status;
    int length = snprintf(folder, sizeof folder, "%s/%lu", runtime, (unsigned long)user);
    if (length < 0 || (size_t)length >= sizeof folder) return errno = ENAMETOOLONG, -1;
    int base = open(folder, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (base < 0) return -1;
    if (fstat(base, &status) != 0 || status.st_uid != user) {
        close(base);
        return errno = EPERM, -1;
    }
    return check_socket(open_below(base, "keychaind/pam"), user);
}

// The result of looking up a group.
enum lookup { lookup_found, lookup_none, lookup_failed };

static enum lookup find_group(const char *name, gid_t *group) {
    char buffer[group_limit];
    struct group entry, *found = NULL;
    int error = getgrnam_r(name, &entry, buffer, sizeof buffer, &found);
    if (found != NULL) return *group = found->gr_gid, lookup_found;
    // Some systems report a missing entry as one of these.
    if (error == 0 || error == ENOENT || error == ESRCH) return lookup_none;
    return errno = error, lookup_failed;
}

// Returns the descriptor if it is a folder of root that nobody else can write; otherwise closes it.
static int check_folder(int found) {
    struct stat status;
    if (found < 0) return -1;
    if (fstat(found, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == 0 && (status.st_mode & 022) == 0)
        return found;
    close(found);
    return errno = EPERM, -1;
}

// Opens the socket of the domain, UID/data/pam: in folders of root, the last of which only the group can enter and
// write.
static int find_domain_socket(const char *domain, uid_t user, gid_t group) {
    char name[32];
    struct stat status;
    int folder = check_folder(open(domain, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (folder < 0) return -1;
    snprintf(name, sizeof name, "%lu", (unsigned long)user);
    if ((folder = check_folder(open_below(folder, name))) < 0) return -1;
    if ((folder = open_below(folder, "data")) < 0) return -1;
    if (fstat(folder, &status) != 0 || !S_ISDIR(status.st_mode) || status.st_uid != 0 || status.st_gid != group ||
        (status.st_mode & 007) != 0) {
        close(folder);
        return errno = EPERM, -1;
    }
    return check_socket(open_below(folder, "pam"), user);
}

// Connects, and resumes when a signal of the login program interrupts it.
static bool connect_until(int connection, const struct sockaddr_un *address, int64_t deadline) {
    for (;;) {
        int64_t left = deadline - now();
        // Sending needs no time of its own; only the wait for the answer does.
        if (left < 1) left = 1;
        // A full backlog makes connect block up to the send timeout.
        struct timeval limit = {.tv_sec = left / 1000, .tv_usec = left % 1000 * 1000};
        if (setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) != 0) return false;
        if (connect(connection, (const struct sockaddr *)address, sizeof *address) == 0) return true;
        if (errno != EINTR) return false;
        if (now() >= deadline) return errno = ETIMEDOUT, false;
    }
}

// Connects to a socket whose listener runs as the user, and in the group if given; closes the descriptor.
static int connect_to(int socket_file, uid_t user, const gid_t *group, int64_t deadline) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct ucred peer;
    socklen_t size = sizeof peer;
    if (socket_file < 0) return -1;
    int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d", socket_file);
    if (connection >= 0 && connect_until(connection, &address, deadline) &&
        getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0) {
        // The listener may be another process than the creator of the socket.
        if (peer.uid == user && (group == NULL || peer.gid == *group)) {
            close(socket_file);
            return connection;
        }
        errno = EPERM;
    }
    int error = errno;
    close(socket_file);
    if (connection >= 0) close(connection);
    return errno = error, -1;
}

// Makes systemd start keychaind by connecting to the socket of the user without sending anything. Returns false if
// nobody listens.
static bool wake(const char *runtime, uid_t user) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int socket_file = find_socket(runtime, user);
    if (socket_file < 0) return false;
    int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d", socket_file);
    // A full backlog has a listener.
    bool is_heard = connection >= 0 &&
                    (connect(connection, (const struct sockaddr *)&address, sizeof address) == 0 || errno == EAGAIN);
    int error = errno;
    close(socket_file);
    if (connection >= 0) close(connection);
    return errno = error, is_heard;
}

static void pause_between_looks(void) {
    struct timespec time = {.tv_nsec = milliseconds_between_looks * 1000000L};
    // A signal of the login program only shortens it.
    nanosleep(&time, NULL);
}

// Connects to keychaind in its domain, and waits while it is starting.
static int connect_to_domain(const char *domain, const char *runtime, uid_t user, gid_t group, int64_t deadline) {
    bool is_awake = false;
    for (;;) {
        int connection = connect_to(find_domain_socket(domain, user, group), user, &group, deadline);
        if (connection >= 0 || (errno != ENOENT && errno != ECONNREFUSED)) return connection;
        int error = errno;
        if (!is_awake && !(is_awake = wake(runtime, user))) return errno = error, -1;
        if (now() >= deadline) return errno = ETIMEDOUT, -1;
        pause_between_looks();
    }
}

// Sends a frame and wipes it once it is sent.
static bool send_frame(int connection, struct frame *frame, bool *is_there) {
    bool is_sent = send(connection, frame, sizeof *frame, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof *frame;
    int error = errno;
    if (is_sent) forget(frame, is_there);
    errno = error;
    return is_sent;
}

// Receives the status of a frame; -1 with errno set if there is none.
static int receive_status(int connection, int64_t deadline) {
    struct reply reply;
    struct pollfd event = {.fd = connection, .events = POLLIN};
    for (;;) {
        int64_t left = deadline - now();
        if (left <= 0) return errno = ETIMEDOUT, -1;
        int ready = poll(&event, 1, (int)left);
        if (ready > 0) break;
        if (ready < 0 && errno != EINTR) return -1;
    }
    ssize_t count = recv(connection, &reply, sizeof reply, MSG_DONTWAIT | MSG_TRUNC);
    if (count < 0) return -1;
    if (count != sizeof reply || memcmp(reply.magic, magic, sizeof magic) != 0) return errno = EPROTO, -1;
    return reply.status[0] || reply.status[1] || reply.status[2] ? UINT8_MAX : reply.status[3];
}

static const char *argument(int count, const char **arguments, const char *name, const char *standard) {
    size_t length = strlen(name);
    for (int index = 0; index < count; index++) {
        if (strncmp(arguments[index], name, length) == 0) return arguments[index] + length;
    }
    return standard;
}

// The destination of the password, from the configuration and the system.
struct route {
    const char *runtime;
    const char *domain;
    // The group that a receiver must have; NULL if the configuration says that keychaind has no domain.
    const char *group_name;
    gid_t group;
};

// Determines the destination; returns false, and logs the reason, if there is none.
//
// A missing group may mean that keychaind is not installed, so only the configuration can say that there is no domain.
static bool find_route(pam_handle_t *pam, struct route *route, int count, const char **arguments) {
    const char *name = argument(count, arguments, "group=", "keychaind");
    route->runtime = argument(count, arguments, "runtime=", "/run/user");
    route->domain = argument(count, arguments, "domain=", "/run/keychaind");
    route->group_name = NULL;
    if (strcmp(name, "none") == 0) return true;
    switch (find_group(name, &route->group)) {
    case lookup_found:
        route->group_name = name;
        return true;
    case lookup_none:
        pam_syslog(pam, LOG_ERR, "the password is not sent: group %s does not exist, and group=none is not set", name);
        return false;
    case lookup_failed:
        break;
    }
    pam_syslog(pam, LOG_ERR, "the password is not sent: looking up group %s failed: %s", name, strerror(errno));
    return false;
}

static int connect_by(const struct route *route, uid_t user, int64_t deadline) {
    if (route->group_name == NULL) return connect_to(find_socket(route->runtime, user), user, NULL, deadline);
    return connect_to_domain(route->domain, route->runtime, user, route->group, deadline);
}

static void log_failure(pam_handle_t *pam, const struct login *login, const struct route *route) {
    int error = errno;
    bool is_absent = error == ENOENT || error == ECONNREFUSED;
    if (route->group_name == NULL || is_absent) {
        int level = is_absent ? LOG_INFO : LOG_NOTICE;
        pam_syslog(pam, level, "cannot reach the keychain of %s: %s", login->user, strerror(error));
        return;
    }
    const char *reason = error == ETIMEDOUT ? "no process of the group listened in time" : strerror(error);
    pam_syslog(
        pam, LOG_NOTICE, "the password of %s is only for a keychaind with group %s, which cannot be reached: %s",
        login->user, route->group_name, reason
    );
}

enum parcel { only_change, change_and_unlock };

// Sends the pending requests, the change before the unlock that needs it; returns whether all were accepted.
static bool deliver(
    pam_handle_t *pam, struct login *login, enum parcel parcel, int limit, int count, const char **arguments
) {
    struct passwd *account = pam_modutil_getpwnam(pam, login->user);
    int64_t start = now(), deadline = start + limit;
    struct route route;
    int status = -1;
    if (account == NULL) return false;
    uid_t user = account->pw_uid;
    // Other users cannot verify the socket, and the daemon would refuse them.
    if (geteuid() != 0 && geteuid() != user) return false;
    if (!find_route(pam, &route, count, arguments)) return false;
    int connection = connect_by(&route, user, deadline);
    if (connection >= 0) {
        bool changes = login->has_change, unlocks = login->has_password && parcel == change_and_unlock;
        // Both at once, so that the daemon still unlocks if the change takes longer than the module may wait.
        if ((!changes || send_frame(connection, &login->change, &login->has_change)) &&
            (!unlocks || send_frame(connection, &login->unlock, &login->has_password))) {
            status = changes ? receive_status(connection, deadline) : 0;
            if (status > status_changed)
                pam_syslog(pam, LOG_NOTICE, "the keychain did not change its password: status %d", status);
            if (status >= 0 && unlocks) status = receive_status(connection, deadline);
        }
        int error = errno;
        close(connection);
        errno = error;
    }
    if (status < 0) log_failure(pam, login, &route);
    int64_t spent = now() - start;
    login->milliseconds_left = spent < login->milliseconds_left ? login->milliseconds_left - (int)spent : 0;
    return status >= 0;
}

// The entry points of PAM. Authentication never succeeds, so no configuration lets anybody in through this module; a
// session always succeeds, so none locks anybody out.

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int pam_sm_authenticate(pam_handle_t *pam, int flags, int count, const char **arguments) {
    (void)flags;
    (void)count;
    (void)arguments;
    struct login *login = find_login(pam);
    // The password of an earlier attempt may be wrong, and this one may have none, as with a fingerprint.
    if (login != NULL) forget(&login->unlock, &login->has_password);
    const char *password = given(pam, PAM_AUTHTOK);
    if (password == NULL || (login = make_login(pam)) == NULL) return PAM_IGNORE;
    fill(&login->unlock, operation_unlock, password, "");
    login->has_password = true;
    return PAM_IGNORE;
}

// A screen locker opens no session; it refreshes credentials after a correct password.
EXPORTED int pam_sm_setcred(pam_handle_t *pam, int flags, int count, const char **arguments) {
    struct login *login = find_login(pam);
    if (login != NULL && login->has_password && (flags & (PAM_REINITIALIZE_CRED | PAM_REFRESH_CRED))) {
        deliver(pam, login, change_and_unlock, login->milliseconds_left, count, arguments);
        forget(&login->unlock, &login->has_password);
    }
    return PAM_IGNORE;
}

EXPORTED int pam_sm_open_session(pam_handle_t *pam, int flags, int count, const char **arguments) {
    (void)flags;
    struct login *login = find_login(pam);
    if (login == NULL || !(login->has_password || login->has_change)) return PAM_SUCCESS;
    deliver(pam, login, change_and_unlock, login->milliseconds_left, count, arguments);
    forget(&login->unlock, &login->has_password);
    forget(&login->change, &login->has_change);
    return PAM_SUCCESS;
}

EXPORTED int pam_sm_close_session(pam_handle_t *pam, int flags, int count, const char **arguments) {
    (void)pam;
    (void)flags;
    (void)count;
    (void)arguments;
    return PAM_SUCCESS;
}

// An expired password is changed before the session exists, and so before the daemon runs: the change waits for the
// session.
EXPORTED int pam_sm_chauthtok(pam_handle_t *pam, int flags, int count, const char **arguments) {
    if (!(flags & PAM_UPDATE_AUTHTOK)) return PAM_IGNORE;
    const char *password = given(pam, PAM_OLDAUTHTOK), *new_password = given(pam, PAM_AUTHTOK);
    // Root need not know the old password; the daemon then asks for it at the next login.
    if (password == NULL || new_password == NULL) return PAM_IGNORE;
    struct login *login = make_login(pam);
    if (login == NULL) return PAM_IGNORE;
    fill(&login->change, operation_change, password, new_password);
    login->has_change = true;
    // The session that follows is opened with the new password.
    if (login->has_password) fill(&login->unlock, operation_unlock, new_password, "");
    int limit = login->milliseconds_left - milliseconds_for_session;
    return deliver(pam, login, only_change, limit, count, arguments) ? PAM_SUCCESS : PAM_IGNORE;
}
