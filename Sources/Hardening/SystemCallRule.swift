import CSeccomp
import Glibc

/// The outcome of a system call with certain arguments.
///
/// The rules of a call cover all arguments together: what is left out fails with `ENOSYS`, as if there were no such call.
struct SystemCallRule {
    let name: String
    /// The error of the call; nil if it is allowed.
    let error: Int32?
    /// All of them have to hold.
    let conditions: [scmp_arg_cmp]

    init(_ name: String, failsWith error: Int32? = nil, _ conditions: scmp_arg_cmp...) {
        self.name = name
        self.error = error
        self.conditions = conditions
    }

    static let all: [SystemCallRule] = sockets + memory + processes + files

    /// Local sockets only: the daemon uses no network.
    private static let sockets = ["socket", "socketpair"].flatMap { name in
        [
            SystemCallRule(name, equals(0, AF_UNIX)),
            SystemCallRule(name, failsWith: EAFNOSUPPORT, differs(0, AF_UNIX)),
        ]
    }

    /// No memory is writable and executable, and none becomes executable later.
    private static let memory: [SystemCallRule] = {
        let (write, execute) = (UInt64(PROT_WRITE), UInt64(PROT_EXEC))
        let mapping = [
            SystemCallRule("mmap", has(2, none: execute)),
            SystemCallRule("mmap", has(2, execute, of: write | execute)),
            SystemCallRule("mmap", failsWith: EPERM, has(2, all: write | execute)),
        ]
        return mapping + ["mprotect", "pkey_mprotect"].flatMap { refused($0, 2, execute) }
            + refused("shmat", 2, keychaind_shm_exec)
    }()

    /// No new namespaces, and no change of the personality.
    private static let processes: [SystemCallRule] = {
        var count = 0
        let start = keychaind_namespace_flags(&count)
        let namespaces = Array(UnsafeBufferPointer(start: start, count: count))
        let query: UInt32 = 0xffff_ffff
        return [
            SystemCallRule("clone", has(0, none: namespaces.reduce(0, |))),
            SystemCallRule("personality", scmp_arg_cmp(0, SCMP_CMP_EQ, UInt64(query))),
            SystemCallRule("personality", failsWith: EPERM, scmp_arg_cmp(0, SCMP_CMP_NE, UInt64(query))),
        ] + namespaces.map { SystemCallRule("clone", failsWith: EPERM, has(0, all: $0)) }
    }()

    /// No set-uid and no set-gid files.
    private static let files: [SystemCallRule] = {
        let modes: [(String, UInt32)] = [
            ("chmod", 1), ("fchmod", 1), ("fchmodat", 2), ("fchmodat2", 2), ("mkdir", 1), ("mkdirat", 2), ("mknod", 1),
            ("mknodat", 2), ("creat", 1),
        ]
        let openings: [(String, UInt32)] = [("open", 1), ("openat", 2)]
        return modes.flatMap { refused($0.0, $0.1, idBits) } + openings.flatMap { opening($0.0, flags: $0.1) }
    }()

    private static let idBits = UInt64(S_ISUID | S_ISGID)

    /// The mode counts only with a flag that makes a file.
    private static func opening(_ name: String, flags: UInt32) -> [SystemCallRule] {
        // O_TMPFILE without O_DIRECTORY, which it includes.
        let makers: [UInt64] = [UInt64(O_CREAT), 0o20_000_000]
        let mode = flags + 1
        let allowed = [
            SystemCallRule(name, has(flags, none: makers[0] | makers[1])),
            SystemCallRule(name, has(mode, none: idBits)),
        ]
        return allowed
            + makers.flatMap { maker in
                [S_ISUID, S_ISGID].map { bit in
                    SystemCallRule(name, failsWith: EPERM, has(flags, all: maker), has(mode, all: UInt64(bit)))
                }
            }
    }

    /// Refuses a call whose argument has one of the bits.
    private static func refused(_ name: String, _ argument: UInt32, _ bits: UInt64) -> [SystemCallRule] {
        let single = (0..<64).map { UInt64(1) << $0 }.filter { bits & $0 != 0 }
        return [SystemCallRule(name, has(argument, none: bits))]
            + single.map { SystemCallRule(name, failsWith: EPERM, has(argument, all: $0)) }
    }

    // MARK: Conditions

    private static func equals(_ argument: UInt32, _ value: Int32) -> scmp_arg_cmp {
        scmp_arg_cmp(argument, SCMP_CMP_EQ, UInt64(value))
    }

    private static func differs(_ argument: UInt32, _ value: Int32) -> scmp_arg_cmp {
        scmp_arg_cmp(argument, SCMP_CMP_NE, UInt64(value))
    }

    private static func has(_ argument: UInt32, none bits: UInt64) -> scmp_arg_cmp {
        has(argument, 0, of: bits)
    }

    private static func has(_ argument: UInt32, all bits: UInt64) -> scmp_arg_cmp {
        has(argument, bits, of: bits)
    }

    private static func has(_ argument: UInt32, _ value: UInt64, of mask: UInt64) -> scmp_arg_cmp {
        scmp_arg_cmp(argument, SCMP_CMP_MASKED_EQ, mask, value)
    }
}

extension scmp_arg_cmp {
    fileprivate init(_ argument: UInt32, _ comparison: scmp_compare, _ first: UInt64, _ second: UInt64 = 0) {
        self.init(arg: argument, op: comparison, datum_a: first, datum_b: second)
    }
}
