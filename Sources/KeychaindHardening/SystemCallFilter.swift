import CKeychaindSeccomp
import Glibc

/// The seccomp filter of the process and its children: the calls of an ordinary service, with checked arguments.
///
/// The process applies it itself. `SystemCallFilter=` in a unit implies no_new_privs, which takes the group from a
/// set-gid program; and a daemon started without systemd would have no filter.
package enum SystemCallFilter {
    /// The reason why the filter could not be applied.
    package struct Failure: Error {
        package let reason: String

        fileprivate init(_ error: Int32) {
            reason = String(cString: strerror(error < 0 ? -error : error))
        }
    }

    /// Applies the filter to all threads and sets no_new_privs, irrevocably.
    ///
    /// A known call that is not allowed fails with `EPERM`. A call unknown to libseccomp fails with `ENOSYS`, for which
    /// the C library has a fallback. A call of another architecture kills the process.
    package static func apply() throws(Failure) {
        guard let filter = seccomp_init(keychaind_seccomp_refuse(UInt16(ENOSYS))) else { throw Failure(ENOMEM) }
        defer { seccomp_release(filter) }
        try set(SCMP_FLTATR_CTL_TSYNC, 1, of: filter)
        try set(SCMP_FLTATR_ACT_BADARCH, keychaind_seccomp_kill, of: filter)
        // A binary tree instead of a list; older versions of libseccomp ignore it.
        _ = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2)
        var known: Set<Int32> = []
        for name in SystemCallRule.opaque { known.insert(number(of: name)) }
        for rule in SystemCallRule.all {
            known.insert(number(of: rule.name))
            try add(rule, to: filter)
        }
        for name in SystemCallRule.allowed {
            known.insert(number(of: name))
            try add(SystemCallRule(name), to: filter)
        }
        try refuse(allBut: known, in: filter)
        try check(seccomp_load(filter))
    }

    /// Beyond the highest number of every architecture.
    private static let numbers: Range<Int32> = 0..<600

    /// Denies the calls that libseccomp knows and no rule names.
    private static func refuse(allBut known: Set<Int32>, in filter: scmp_filter_ctx) throws(Failure) {
        for number in numbers where !known.contains(number) {
            guard let name = seccomp_syscall_resolve_num_arch(keychaind_seccomp_native, number) else { continue }
            free(name)
            try check(seccomp_rule_add_array(filter, keychaind_seccomp_refuse(UInt16(EPERM)), number, 0, nil))
        }
    }

    private static func add(_ rule: SystemCallRule, to filter: scmp_filter_ctx) throws(Failure) {
        let number = number(of: rule.name)
        // A call of another architecture, or unknown to libseccomp.
        guard number >= 0 else { return }
        let action = rule.error.map { keychaind_seccomp_refuse(UInt16($0)) } ?? keychaind_seccomp_allow
        try check(
            rule.conditions.withUnsafeBufferPointer { conditions in
                seccomp_rule_add_array(filter, action, number, UInt32(conditions.count), conditions.baseAddress)
            }
        )
    }

    private static func number(of name: String) -> Int32 { seccomp_syscall_resolve_name(name) }

    private static func set(
        _ attribute: scmp_filter_attr,
        _ value: UInt32,
        of filter: scmp_filter_ctx
    ) throws(Failure) {
        try check(seccomp_attr_set(filter, attribute, value))
    }

    private static func check(_ status: Int32) throws(Failure) {
        guard status == 0 else { throw Failure(status) }
    }
}
