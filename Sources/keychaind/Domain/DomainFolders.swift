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

/// The set-uid program that makes the folders of the domain (domain/keychaind-folders.c).
///
/// Its place follows from that of this program, so that an installation can be anywhere. A caller can lead there with a link of its
/// own, but not put anything there that is root's, set-uid and for this group alone.
enum FolderHelper {
    private static let name = "keychaind-folders"
    /// From the folder of this program.
    private static let place = "../libexec/keychaind/\(name)"
    /// How long it may take, in milliseconds: a handful of calls, and a disk that may have to wake up.
    private static let patience: Int32 = 20_000
    private static let longestMessage = 512

    /// Runs it to its end.
    static func run(group: gid_t) throws(Domain.Failure) {
        let program = try open(group: group)
        defer { close(program) }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw failure(String(cString: strerror(errno))) }
        defer { close(ends[0]) }
        _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
        var status: Int32 = 0
        let process = keychaind_start_helper(program, name, ends[1], &status)
        close(ends[1])
        guard status == 0 else { throw failure(String(cString: strerror(status))) }
        guard let message = read(ends[0]) else { throw failure("\(name) does not end") }
        // It has closed its output, which it does when it ends.
        guard waitpid(process, &status, 0) == process, status == 0 else {
            throw failure(message.isEmpty ? "\(name) has ended with status \(status)" : message)
        }
    }

    /// Opens the helper, if it is what only root can have installed for this group.
    private static func open(group: gid_t) throws(Domain.Failure) -> Int32 {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let own = String(decoding: buffer.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        guard let slash = own.lastIndex(of: "/") else { throw failure("/proc/self/exe cannot be read") }
        let path = "\(own[...slash])\(place)"
        let program = keychaind_open_program(path)
        guard program >= 0 else { throw failure("\(path): \(String(cString: strerror(errno)))") }
        var status = stat()
        guard fstat(program, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == 0,
            status.st_gid == group, status.st_mode & 0o7777 == 0o4710
        else {
            close(program)
            throw failure("\(path): it is not installed as root's and the group's, mode 4710")
        }
        return program
    }

    /// What the helper says until it closes its output; nil if that takes too long.
    private static func read(_ descriptor: Int32) -> String? {
        let deadline = ContinuousClock.now + .milliseconds(Int64(patience))
        var message: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: longestMessage)
        while ContinuousClock.now < deadline {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, patience) > 0 else { continue }
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count > 0 else {
                let line = message.prefix { byte in byte != UInt8(ascii: "\n") }
                return String(decoding: line, as: UTF8.self)
            }
            message += buffer[..<count].prefix(longestMessage - message.count)
        }
        return nil
    }

    private static func failure(_ reason: String) -> Domain.Failure {
        Domain.Failure(reason: "the keychain's folders cannot be made: \(reason)")
    }
}
