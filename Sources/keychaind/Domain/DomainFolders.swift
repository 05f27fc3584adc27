import CDomain
import Glibc

/// The folders of one user's keychain in the domain, which only this user and this group together can reach.
struct DomainFolders {
    /// A folder for a user in one of the system's, and the one in it for the group.
    struct Place {
        /// `keychaind` in one of the system's folders.
        let parent: String
        /// Root's, with an access control list that lets the one user pass.
        let outer: String
        /// Root's and the group's.
        let path: String

        fileprivate init(_ system: String, _ user: uid_t) {
            parent = "\(system)/keychaind"
            outer = "\(parent)/\(user)"
            path = "\(outer)/data"
        }
    }

    /// Where keychains are.
    let data: Place
    /// What does not outlast the system.
    let runtime: Place

    private let group: gid_t

    init(user: uid_t, group: gid_t) {
        data = Place("/var/lib", user)
        runtime = Place("/run", user)
        self.group = group
    }

    /// Has the folders made where they are missing, and checks them.
    func prepare() throws(Domain.Failure) {
        if areMissing { try FolderHelper.run(group: group) }
        for place in [data, runtime] {
            try check(place.parent, group: nil, mode: nil)
            // The mask of the access control list is where the mode has the group's rights.
            try check(place.outer, group: 0, mode: 0o710)
            try check(place.path, group: group, mode: 0o2770)
        }
    }

    /// Whether one is not there, or not complete.
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
        else { throw Domain.Failure(reason: "\(path): its kind, owner or mode is not keychaind's") }
    }
}
