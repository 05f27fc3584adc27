import CLinux
import Glibc

/// The rights of the user alone, for what the user's programs choose: files in the home folder, sockets, other processes.
///
/// A set-gid keychaind has the rights of a group besides (docs/domain.md). With them it would open files for a program that must not,
/// and the kernel would not let it look into the user's other processes.
package enum UserRights {
    /// Runs a closure without the group of the domain; in other threads nothing changes, and without a domain nothing at all.
    ///
    /// A thread that the closure starts stays without the group.
    package static func perform<Result: ~Copyable, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let group = getegid()
        let userGroup = getgid()
        guard group != userGroup else { return try body() }
        precondition(keychaind_set_file_group(userGroup) == 0, "the kernel lets a process use its own group")
        defer { _ = keychaind_set_file_group(group) }
        return try body()
    }
}
