import CDomain
import Glibc

/// The setting that the process runs in: a domain of its own, which programs of its user cannot enter, or none (docs/domain.md).
enum Domain: Equatable, Sendable {
    /// Without a domain: files, environment and process are open to every program of the user.
    case none(reason: String)

    /// In the domain: a set-gid process with folders that only this user and this group together can reach.
    ///
    /// - Parameters:
    ///   - group: the group of the domain, the process's effective one.
    ///   - userGroup: the user's own group, the process's real one.
    ///   - dataDirectory: the folder of keychains.
    ///   - runtimeDirectory: the folder of what does not outlast the system.
    case entered(group: gid_t, userGroup: gid_t, dataDirectory: String, runtimeDirectory: String)

    /// Why a process that could be in the domain does not start.
    struct Failure: Error, Equatable {
        let reason: String
    }

    /// Enters the domain, or gives up the group for good.
    ///
    /// Before anything else of the program, and before it renounces new privileges: the helper that makes the folders needs some.
    ///
    /// - Parameter dataDirectory: the folder that the command line names, if it does: the domain has folders of its own, and what a
    ///   caller names is opened with the caller's rights.
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
        return .entered(
            group: group,
            userGroup: userGroup,
            dataDirectory: folders.data.path,
            runtimeDirectory: folders.runtime.path
        )
    }

    /// Why the process must not be in the domain; nil if it may.
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

    /// The groups that the user's programs have besides the real one.
    private static var groups: [gid_t] {
        let count = getgroups(0, nil)
        guard count > 0 else { return [] }
        return [gid_t](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
            initialized = Int(max(0, getgroups(count, buffer.baseAddress)))
        }
    }
}

extension Domain {
    /// The folder of keychains in the domain; nil without one.
    var dataDirectory: String? {
        if case .entered(_, _, let dataDirectory, _) = self { dataDirectory } else { nil }
    }

    /// The folder of what does not outlast the system, in the domain; nil without one.
    var runtimeDirectory: String? {
        if case .entered(_, _, _, let runtimeDirectory) = self { runtimeDirectory } else { nil }
    }

    /// Whether the process is in the domain.
    var isEntered: Bool { dataDirectory != nil }
}
