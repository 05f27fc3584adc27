import CKeychaindLinux
import Glibc
import KeychaindRights
import KeychaindVault

/// One user's folders in the domain, which only this user and the group together can reach.
struct DomainFolders {
    /// The user's folder in a system folder, and the group's folder in it.
    struct Place {
        /// `keychaind` in the system folder.
        let parent: String
        /// Owned by root, with an access control list that lets only the user enter.
        let outer: String
        /// Owned by root and the group.
        let path: String

        fileprivate init(_ system: String, _ user: uid_t) {
            parent = "\(system)/keychaind"
            outer = "\(parent)/\(user)"
            path = "\(outer)/data"
        }
    }

    /// The place of keychains.
    let data: Place
    /// The place of files that last until a reboot.
    let runtime: Place

    private let group: gid_t

    init(user: uid_t, group: gid_t) {
        data = Place("/var/lib", user)
        runtime = Place("/run", user)
        self.group = group
    }

    /// Creates missing folders with the helper, and checks all of them.
    func prepare() throws(Domain.Failure) {
        if areMissing { try FolderHelper.run(group: group) }
        for place in [data, runtime] {
            try check(place.parent, group: nil, mode: nil)
            // With an access control list, the group bits of the mode are its mask.
            try check(place.outer, group: 0, mode: 0o710)
            try check(place.path, group: group, mode: 0o2770)
        }
    }

    /// Has keychains of an earlier account with this user's number set aside, and new folders made.
    ///
    /// Throws if their owner cannot be found, as before the home folder is mounted.
    func setAsideOfEarlierAccount() throws(Domain.Failure) {
        let lock = try lock()
        defer { close(lock) }
        guard try areOfEarlierAccount() else { return }
        try FolderHelper.run(group: group)
        try prepare()
        guard try !areOfEarlierAccount() else {
            throw Domain.Failure(reason: "\(data.path): it has not been set aside")
        }
    }

    /// Locks the folder of keychains, so that one process at a time decides about it.
    private func lock() throws(Domain.Failure) -> Int32 {
        while true {
            let folder = open(data.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            var (locked, present) = (stat(), stat())
            guard folder >= 0, flock(folder, LOCK_EX) == 0, fstat(folder, &locked) == 0,
                stat(data.path, &present) == 0
            else { throw Domain.Failure(reason: "\(data.path): \(String(cString: strerror(errno)))") }
            // Another process may have set it aside meanwhile.
            if locked.st_ino == present.st_ino { return folder }
            close(folder)
        }
    }

    /// Whether the keychains are of an earlier account, for which they are marked then.
    private func areOfEarlierAccount() throws(Domain.Failure) -> Bool {
        guard let user = getpwuid(getuid()) else { throw Domain.Failure(reason: "the user database has no such user") }
        let home = String(cString: user.pointee.pw_dir)
        var account = Account(name: String(cString: user.pointee.pw_name), home: home)
        UserRights.perform {
            var status = stat()
            // Folders of others, such as /, are of no account.
            guard stat(home, &status) == 0, status.st_uid == getuid() else { return }
            account.inode = UInt64(status.st_ino)
            account.birth = keychaind_birth(home)
        }
        do throws(VaultError) {
            switch try AccountRecord.examine(data.path, for: account, at: Int64(time(nil))) {
            case .thisAccount: return false
            case .another: return true
            case .unknown: break
            }
        } catch {
            throw Domain.Failure(reason: "\(data.path): \(error.reason)")
        }
        throw Domain.Failure(
            reason: "\(data.path): it has keychains of a user whose home folder is not \(home) as it is now; mount "
                + "the home folder, or see \"Another account with the same number\" in docs/domain.md"
        )
    }

    private var areMissing: Bool {
        [data, runtime].contains { place in
            var status = stat()
            return lstat(place.path, &status) != 0
        }
    }

    private func check(_ path: String, group: gid_t?, mode: mode_t?) throws(Domain.Failure) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            throw Domain.Failure(reason: "\(path): \(String(cString: strerror(errno)))")
        }
        guard status.st_mode & S_IFMT == S_IFDIR, status.st_uid == 0, status.st_gid == group ?? status.st_gid,
            mode.map({ mode in status.st_mode & 0o7777 == mode }) ?? (status.st_mode & 0o022 == 0)
        else { throw Domain.Failure(reason: "\(path): its type, owner, group or mode is wrong") }
    }
}
