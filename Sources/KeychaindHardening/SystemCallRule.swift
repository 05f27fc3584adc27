import CKeychaindSeccomp
import Glibc

/// The outcome of a system call with certain arguments.
///
/// The rules of a call must cover all arguments: a call that matches none fails with `ENOSYS`, as if it did not exist.
struct SystemCallRule {
    let name: String
    /// The error of the call; nil if it is allowed.
    let error: Int32?
    /// The conditions on the arguments, all of which must hold.
    let conditions: [scmp_arg_cmp]

    init(_ name: String, failsWith error: Int32? = nil, _ conditions: scmp_arg_cmp...) {
        self.name = name
        self.error = error
        self.conditions = conditions
    }

    static let all: [SystemCallRule] = sockets + memory + processes + files

    /// Only local sockets: the daemon uses no network.
    private static let sockets = ["socket", "socketpair"].flatMap { name in
        [
            SystemCallRule(name, equals(0, AF_UNIX)),
            SystemCallRule(name, failsWith: EAFNOSUPPORT, differs(0, AF_UNIX)),
        ]
    }

    /// No memory that is writable and executable, or that becomes executable later.
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

    /// No new namespaces and no change of the personality.
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

    /// No set-uid or set-gid files.
    private static let files: [SystemCallRule] = {
        let modes: [(String, UInt32)] = [
            ("chmod", 1), ("fchmod", 1), ("fchmodat", 2), ("fchmodat2", 2), ("mkdir", 1), ("mkdirat", 2), ("mknod", 1),
            ("mknodat", 2), ("creat", 1),
        ]
        let openings: [(String, UInt32)] = [("open", 1), ("openat", 2)]
        return modes.flatMap { refused($0.0, $0.1, idBits) } + openings.flatMap { opening($0.0, flags: $0.1) }
    }()

    private static let idBits = UInt64(S_ISUID | S_ISGID)

    /// The mode matters only with a flag that creates a file.
    private static func opening(_ name: String, flags: UInt32) -> [SystemCallRule] {
        // `O_TMPFILE` without `O_DIRECTORY`, which it includes.
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

    /// Denies a call whose argument has one of the bits.
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

extension SystemCallRule {
    /// Calls whose arguments are in memory, which a filter cannot read.
    ///
    /// They fail with `ENOSYS`; the C library falls back to `clone` and `openat`.
    static let opaque = ["clone3", "openat2"]

    /// The calls that are allowed with any arguments.
    ///
    /// systemd's `@system-service` (version 252) without `@chown`, `@privileged`, `@resources` and `@keyring`, without
    /// calls that read the memory of other processes or enter namespaces, and without io_uring, which bypasses the
    /// filter.
    static var allowed: [String] { sets.split(whereSeparator: \.isWhitespace).map(String.init) }

    // Some exist only on other architectures; libseccomp has no number for them here.
    private static let sets = """
        brk cacheflush arch_prctl clock_getres clock_getres_time64 clock_gettime clock_gettime64 clock_nanosleep
        clock_nanosleep_time64 execve exit exit_group futex futex_time64 futex_waitv get_robust_list get_thread_area
        getegid getegid32 geteuid geteuid32 getgid getgid32 getgroups getgroups32 getpgid getpgrp getpid getppid
        getrandom getresgid getresgid32 getresuid getresuid32 getrlimit getsid gettid gettimeofday getuid getuid32
        membarrier mmap2 munmap nanosleep pause prlimit64 restart_syscall riscv_flush_icache riscv_hwprobe rseq
        rt_sigreturn sched_getaffinity sched_yield set_robust_list set_thread_area set_tid_address set_tls sigreturn
        time ugetrlimit uretprobe
        io_cancel io_destroy io_getevents io_pgetevents io_pgetevents_time64 io_setup io_submit
        _llseek close close_range dup dup2 dup3 lseek pread64 preadv preadv2 pwrite64 pwritev pwritev2 read readv
        write writev
        access chdir faccessat faccessat2 fallocate fchdir fcntl fcntl64 fgetxattr flistxattr fremovexattr fsetxattr
        fstat fstat64 fstatat64 fstatfs fstatfs64 ftruncate ftruncate64 futimesat getcwd getdents getdents64 getxattr
        inotify_add_watch inotify_init inotify_init1 inotify_rm_watch lgetxattr link linkat listxattr llistxattr
        lremovexattr lsetxattr lstat lstat64 newfstatat oldfstat oldlstat oldstat readlink readlinkat removexattr
        rename renameat renameat2 rmdir setxattr stat stat64 statfs statfs64 statx symlink symlinkat truncate
        truncate64 unlink unlinkat utime utimensat utimensat_time64 utimes
        _newselect epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 poll
        ppoll ppoll_time64 pselect6 pselect6_time64 select
        memfd_create mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedreceive_time64 mq_timedsend
        mq_timedsend_time64 mq_unlink msgctl msgget msgrcv msgsnd pipe pipe2 semctl semget semop semtimedop
        semtimedop_time64 shmctl shmdt shmget
        mlock mlock2 mlockall munlock munlockall
        accept accept4 bind connect getpeername getsockname getsockopt listen recv recvfrom recvmmsg recvmmsg_time64
        recvmsg send sendmmsg sendmsg sendto setsockopt shutdown
        capget execveat fork getrusage kill pidfd_open pidfd_send_signal prctl rt_sigqueueinfo rt_tgsigqueueinfo
        swapcontext tgkill times tkill vfork wait4 waitid waitpid
        setgid setgid32 setregid setregid32 setresgid setresgid32 setfsgid setfsgid32
        rt_sigaction rt_sigpending rt_sigprocmask rt_sigsuspend rt_sigtimedwait rt_sigtimedwait_time64 sigaction
        sigaltstack signal signalfd signalfd4 sigpending sigprocmask sigsuspend
        fdatasync fsync msync sync sync_file_range sync_file_range2 syncfs
        alarm getitimer setitimer timer_create timer_delete timer_getoverrun timer_gettime timer_gettime64
        timer_settime timer_settime64 timerfd_create timerfd_gettime timerfd_gettime64 timerfd_settime
        timerfd_settime64
        arm_fadvise64_64 copy_file_range fadvise64 fadvise64_64 flock get_mempolicy getcpu getpriority ioctl
        ioprio_get kcmp madvise mremap name_to_handle_at oldolduname olduname readahead readdir sched_get_priority_max
        sched_get_priority_min sched_getattr sched_getparam sched_getscheduler sched_rr_get_interval
        sched_rr_get_interval_time64 sendfile sendfile64 setpgid setsid splice sysinfo tee umask uname vmsplice
        """
}
