/*
 * keychaind-folders: creates the folders of a user's keychain, which only the keychaind of that user can enter
 * (docs/domain.md).
 *
 * Set-uid root, and executable only for the group `keychaind`, so that only keychaind can start it. It takes no
 * arguments, reads no environment and acts for the real user. It creates, or completes after an interrupted run:
 *
 *   /var/lib/keychaind/UID       root:root 0700, with an ACL that lets this user pass
 *   /var/lib/keychaind/UID/data  root:keychaind 2770
 *   /run/keychaind/UID           the same, for files that do not outlast the system
 *
 * Existing files and folders are used or refused, never changed. One exception: when keychaind has put a file
 * `set-aside` into `data`, the keychains are of an earlier account with the number (AccountRecord.swift). Then only
 * root keeps access to the folder of the user, it is renamed to UID.set-aside.N, and a new one takes its place.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

static const char access_list[] = "system.posix_acl_access";
static const char default_list[] = "system.posix_acl_default";

// An ACL in the format of the kernel (linux/posix_acl_xattr.h), in the required order.
struct entry {
    uint16_t tag, permissions;
    uint32_t identifier;
};
struct list {
    uint32_t version;
    struct entry owner, user, group, mask, others;
};

static struct list list_for(uid_t user) {
    const uint32_t nobody = htole32(UINT32_MAX);
    return (struct list){
        .version = htole32(2),
        .owner = {htole16(0x01), htole16(7), nobody},
        .user = {htole16(0x02), htole16(1), htole32(user)},
        .group = {htole16(0x04), 0, nobody},
        .mask = {htole16(0x10), htole16(1), nobody},
        .others = {htole16(0x20), 0, nobody},
    };
}

static _Noreturn void refuse(const char *path, const char *reason) {
    fprintf(stderr, "%s: %s\n", path, reason);
    exit(74);
}

// Opens a system folder, or `keychaind` in it: owned by root, and writable by nobody else.
static int open_system_folder(int parent, const char *name, const char *path) {
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) refuse(path, errno == ENOTDIR || errno == ELOOP ? "it is not a folder" : strerror(errno));
    struct stat status;
    if (fstat(folder, &status) != 0) refuse(path, strerror(errno));
    if (status.st_uid != 0 || (status.st_mode & 022)) refuse(path, "others than root can change it");
    return folder;
}

static bool has_list(int folder, const char *name, const char *path) {
    if (fgetxattr(folder, name, NULL, 0) >= 0) return true;
    if (errno == ENOTSUP) refuse(path, "its file system has no access control lists");
    if (errno != ENODATA) refuse(path, strerror(errno));
    return false;
}

// Whether the folder of the user is complete; if not, only root can enter it yet.
static bool is_complete(int folder, uid_t user, const char *path) {
    struct stat status;
    if (fstat(folder, &status) != 0) refuse(path, strerror(errno));
    if (status.st_uid != 0 || status.st_gid != 0) refuse(path, "somebody else has made it");
    if (has_list(folder, default_list, path)) refuse(path, "it has an access control list that is not keychaind's");
    struct list expected = list_for(user), found;
    ssize_t size = fgetxattr(folder, access_list, &found, sizeof found);
    if (size == sizeof found && memcmp(&found, &expected, sizeof found) == 0) return true;
    if (size >= 0 || errno == ERANGE) refuse(path, "it has an access control list that is not keychaind's");
    if (errno == ENOTSUP) refuse(path, "its file system has no access control lists");
    if (errno != ENODATA) refuse(path, strerror(errno));
    if ((status.st_mode & 07777) != 0700) refuse(path, "its mode is not keychaind's");
    return false;
}

static void make_data_folder(int folder, bool is_complete, gid_t group, const char *path) {
    if (!is_complete && mkdirat(folder, "data", 0700) != 0 && errno != EEXIST) refuse(path, strerror(errno));
    int data = openat(folder, "data", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (data < 0) refuse(path, errno == ENOTDIR || errno == ELOOP ? "it is not a folder" : strerror(errno));
    struct stat status;
    if (!is_complete && (fchown(data, 0, group) != 0 || fchmod(data, 02770) != 0 || fsync(data) != 0))
        refuse(path, strerror(errno));
    if (fstat(data, &status) != 0) refuse(path, strerror(errno));
    if (status.st_uid != 0 || status.st_gid != group || (status.st_mode & 07777) != 02770
        || has_list(data, access_list, path) || has_list(data, default_list, path))
        refuse(path, "its owner or mode is not keychaind's");
    close(data);
}

// Creates and opens the folder of a user; its path is for messages.
static int open_user_folder(int parent, const char *name, const char *path) {
    if (mkdirat(parent, name, 0700) != 0 && errno != EEXIST) refuse(path, strerror(errno));
    int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) refuse(path, errno == ENOTDIR || errno == ELOOP ? "it is not a folder" : strerror(errno));
    return folder;
}

// Whether keychaind has said that the folder is of an earlier account.
static bool is_of_earlier_account(int folder, const char *path) {
    struct stat status;
    if (fstat(folder, &status) != 0) refuse(path, strerror(errno));
    if (status.st_uid != 0 || status.st_gid != 0) return false;
    int data = openat(folder, "data", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (data < 0) return false;
    bool is_marked = fstatat(data, "set-aside", &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode);
    close(data);
    return is_marked;
}

// An interruption before the renaming leaves a folder that is found again, and that only root can enter.
static void set_aside(int parent, int folder, const char *name, const char *path) {
    if ((fremovexattr(folder, access_list) != 0 && errno != ENODATA) || fchmod(folder, 0700) != 0)
        refuse(path, strerror(errno));
    char aside[40];
    for (int number = 1; number < 1000; number++) {
        snprintf(aside, sizeof aside, "%s.set-aside.%d", name, number);
        if (renameat2(parent, name, parent, aside, RENAME_NOREPLACE) == 0) {
            if (fsync(parent) != 0) refuse(path, strerror(errno));
            return;
        }
        if (errno != EEXIST) refuse(path, strerror(errno));
    }
    refuse(path, "too many folders of earlier accounts are set aside");
}

// `system` is an absolute path of at most two folders, such as /var/lib.
static void make_folders(const char *system, uid_t user, gid_t group) {
    char path[64], name[16];
    int folder = open_system_folder(AT_FDCWD, "/", "/");
    for (const char *part = system + 1, *end; *part; part = *end ? end + 1 : end) {
        end = strchrnul(part, '/');
        snprintf(path, sizeof path, "%.*s", (int)(end - system), system);
        snprintf(name, sizeof name, "%.*s", (int)(end - part), part);
        folder = open_system_folder(folder, name, path);
    }
    snprintf(path, sizeof path, "%s/keychaind", system);
    if (mkdirat(folder, "keychaind", 0755) != 0 && errno != EEXIST) refuse(path, strerror(errno));
    folder = open_system_folder(folder, "keychaind", path);

    snprintf(path, sizeof path, "%s/keychaind/%u", system, user);
    snprintf(name, sizeof name, "%u", user);
    int outer = open_user_folder(folder, name, path);
    if (is_of_earlier_account(outer, path)) {
        set_aside(folder, outer, name, path);
        outer = open_user_folder(folder, name, path);
    }
    bool complete = is_complete(outer, user, path);
    char data[80];
    snprintf(data, sizeof data, "%s/data", path);
    make_data_folder(outer, complete, group, data);
    // Last, as it lets the user in.
    struct list list = list_for(user);
    if (!complete && fsetxattr(outer, access_list, &list, sizeof list, 0) != 0)
        refuse(path, errno == ENOTSUP ? "its file system has no access control lists" : strerror(errno));
    if (!complete && (fsync(outer) != 0 || fsync(folder) != 0)) refuse(path, strerror(errno));
}

int main(void) {
    static const char self[] = "keychaind-folders";
    uid_t user = getuid();
    gid_t group = getegid();
    struct stat program;
    if (stat("/proc/self/exe", &program) != 0) refuse(self, strerror(errno));
    if (program.st_uid != 0 || program.st_gid == 0 || (program.st_mode & 07777) != 04710 || geteuid() != 0)
        refuse(self, "it is not installed as root:keychaind 4710");
    if (group != program.st_gid || user == 0 || user == (uid_t)-1) refuse(self, "only a user's keychaind starts it");
    // From here on, processes of the user cannot signal this one.
    if (setresgid(0, 0, 0) != 0 || setresuid(0, 0, 0) != 0 || chdir("/") != 0) refuse(self, strerror(errno));
    umask(022);
    make_folders("/var/lib", user, group);
    make_folders("/run", user, group);
    return 0;
}
