import Glibc

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
