import CKeychaindLinux
import Glibc

/// Runs code with the rights of the user alone, where programs of the user choose the target: files in the home folder,
/// sockets, other processes.
///
/// A set-gid keychaind also has the rights of a group (docs/domain.md). With them, it would open files on behalf of a
/// program that must not, and the kernel would not let it inspect other processes of the user.
package enum UserRights {
    /// Runs a closure without the group of the domain, on this thread only; without a domain it just runs the closure.
    ///
    /// A thread created by the closure stays without the group.
    package static func perform<Result: ~Copyable, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Not the effective group: a closure may be in another one's, which goes on without the group.
        let group = keychaind_file_group()
        let userGroup = getgid()
        guard group != userGroup else { return try body() }
        precondition(keychaind_set_file_group(userGroup) == 0, "the kernel lets a process use its own group")
        defer { _ = keychaind_set_file_group(group) }
        return try body()
    }
}
