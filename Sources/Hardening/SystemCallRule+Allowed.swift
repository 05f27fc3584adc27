extension SystemCallRule {
    /// Calls whose arguments are in memory, where a filter cannot see them; they fail with `ENOSYS`, and the C library then
    /// uses `clone` and `openat`.
    static let opaque = ["clone3", "openat2"]

    /// The calls that are allowed with any arguments.
    ///
    /// This is systemd's `@system-service` (version 252) without `@chown`, `@privileged`, `@resources` and `@keyring`,
    /// without the calls that read other processes' memory or enter namespaces, and without io_uring, which opens sockets
    /// and files past the filter.
    static var allowed: [String] { sets.split(whereSeparator: \.isWhitespace).map(String.init) }

    // Some exist on other architectures only; libseccomp then has no number for them here.
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
