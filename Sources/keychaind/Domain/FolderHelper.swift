import CKeychaindDomain
import Glibc
import KeychaindDesktop

/// The set-uid program that creates the domain's folders (domain/keychaind-folders.c).
///
/// Found relative to this program, so that any installation prefix works. A caller can redirect the path with a link,
/// but cannot forge a root-owned set-uid file that only this group can execute.
enum FolderHelper {
    private static let name = "keychaind-folders"
    /// The path relative to the folder of this program.
    private static let place = "../libexec/keychaind/\(name)"
    /// Time limit in milliseconds, enough for a disk to spin up.
    private static let patience: Int32 = 20_000
    private static let longestMessage = 512

    /// Runs the helper and waits for its exit.
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
        guard let message = read(ends[0]) else { throw failure("\(name) did not end in time") }
        guard waitpid(process, &status, 0) == process, status == 0 else {
            throw failure(message.isEmpty ? "\(name) ended with status \(status)" : message)
        }
    }

    /// Opens the helper, if its owner and mode prove that root installed it for this group.
    private static func open(group: gid_t) throws(Domain.Failure) -> Int32 {
        guard let own = ProcessFolder("self", in: "/proc").link("exe"), let slash = own.lastIndex(of: "/") else {
            throw failure("/proc/self/exe cannot be read")
        }
        let path = "\(own[...slash])\(place)"
        let program = keychaind_open_program(path)
        guard program >= 0 else { throw failure("\(path): \(String(cString: strerror(errno)))") }
        var status = stat()
        guard fstat(program, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == 0,
            status.st_gid == group, status.st_mode & 0o7777 == 0o4710
        else {
            close(program)
            throw failure("\(path): its owner must be root, its group the domain's, its mode 4710")
        }
        return program
    }

    /// The first line of the helper's output; nil after the time limit.
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
        Domain.Failure(reason: "the domain's folders cannot be created: \(reason)")
    }
}
