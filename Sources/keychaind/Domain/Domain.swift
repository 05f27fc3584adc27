import CKeychaindDomain
import Glibc

/// The domain of the process, closed to the user's other programs (docs/domain.md).
enum Domain: Equatable, Sendable {
    /// No domain: every program of the user can reach the files and the process.
    case none(reason: String)

    /// A set-gid process with folders that only this user and group together can reach.
    ///
    /// - Parameters:
    ///   - group: the effective group, which is the domain's.
    ///   - userGroup: the real group, which is the user's.
    ///   - dataDirectory: the folder of keychains.
    ///   - runtimeDirectory: the folder of files that last until a reboot.
    case entered(group: gid_t, userGroup: gid_t, dataDirectory: String, runtimeDirectory: String)

    /// The reason that a process cannot enter its domain.
    struct Failure: Error, Equatable {
        let reason: String
    }

    /// Enters the domain, or gives up the group for good.
    ///
    /// Must run first, before new privileges are renounced: the folder helper is set-uid.
    ///
    /// - Parameter dataDirectory: the folder on the command line, opened with the caller's rights and without a domain.
    static func start(dataDirectory: String?) throws(Failure) -> Domain {
        let group = getegid()
        let userGroup = getgid()
        if keychaind_is_privileged() != 0 { DomainEnvironment.complete() }
        guard keychaind_is_privileged() != 0, group != userGroup else {
            return .none(reason: "the program is not installed with a group of its own")
        }
        if let reason = obstacle(group: group, userGroup: userGroup, dataDirectory: dataDirectory) {
            let failure = keychaind_give_up_group(userGroup)
            guard failure == 0 else {
                throw Failure(reason: "the group cannot be given up: \(String(cString: strerror(failure)))")
            }
            return .none(reason: reason)
        }
        try ProcessLimits.raise()
        guard chdir("/") == 0 else { throw Failure(reason: "/ cannot be entered") }
        let folders = DomainFolders(user: getuid(), group: group)
        try folders.prepare()
        try folders.setAsideOfEarlierAccount()
        return .entered(
            group: group,
            userGroup: userGroup,
            dataDirectory: folders.data.path,
            runtimeDirectory: folders.runtime.path
        )
    }

    /// The reason not to enter the domain; nil if there is none.
    private static func obstacle(group: gid_t, userGroup: gid_t, dataDirectory: String?) -> String? {
        guard getuid() == geteuid() else { return "the program is set-uid" }
        guard getuid() != 0 else { return "root needs none" }
        guard !groups.contains(group) else { return "the user is a member of the group" }
        var program = stat()
        let mode = mode_t(S_ISGID) | S_IXGRP
        guard stat("/proc/self/exe", &program) == 0, program.st_mode & S_IFMT == S_IFREG, program.st_uid == 0,
            program.st_gid == group, program.st_mode & mode == mode, program.st_mode & (S_IWGRP | S_IWOTH) == 0
        else { return "the program is not installed as root's, mode 2755" }
        return dataDirectory == nil ? nil : "--data-dir names a folder outside of it"
    }

    private static var groups: [gid_t] {
        let count = getgroups(0, nil)
        guard count > 0 else { return [] }
        return [gid_t](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
            initialized = Int(max(0, getgroups(count, buffer.baseAddress)))
        }
    }
}

extension Domain {
    /// The folder of keychains; nil without a domain.
    var dataDirectory: String? {
        if case .entered(_, _, let dataDirectory, _) = self { dataDirectory } else { nil }
    }

    /// The runtime folder; nil without a domain.
    var runtimeDirectory: String? {
        if case .entered(_, _, _, let runtimeDirectory) = self { runtimeDirectory } else { nil }
    }

    var isEntered: Bool { dataDirectory != nil }
}
