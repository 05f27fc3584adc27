import Foundation
import KeychaindTestSupport
import Testing

/// The filter of system calls in the daemon and its child processes.
@Suite struct SystemCallFilterTests {
    @Test("every thread of the daemon is filtered")
    func everyThreadOfTheDaemon_isFiltered() async throws {
        let service = try await RunningService()
        // Answered after the vault is open, with all its threads.
        _ = try await service.client.createItem(session: service.client.openPlainSession())
        let folder = "/proc/\(service.daemon.child.id)/task"
        let threads = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(threads.count > 1)
        for thread in threads {
            let status = ProcessStatus(at: "\(folder)/\(thread)")
            // A thread that ended meanwhile.
            guard let filter = try? status.field("Seccomp") else { continue }
            #expect(filter == "2")
            #expect(try status.field("NoNewPrivs") == "1")
        }
        try await service.daemon.stop()
        #expect(!(try await service.daemon.child.standardError.text()).contains("not filtered"))
    }

    @Test("calls are allowed or refused by their arguments")
    func calls_areAllowedOrRefused_asTheirArgumentsAre() async throws {
        let outcomes = try await outcomes(of: "try")
        let expected: [String: [String]] = [
            "done": [
                "socket-unix", "socketpair-unix", "mmap", "mmap-code", "mprotect", "shmat", "dlopen", "fork-exec",
                "vfork-exec",
                "personality-query", "setresgid", "setfsgid", "open", "open-existing", "openat-tmpfile", "chmod",
                "mkdir",
                "mkfifo",
            ],
            "EAFNOSUPPORT": [
                "socket-inet", "socket-inet6", "socket-netlink", "socketpair-inet", "socket-inet-thread",
            ],
            "EPERM": [
                "mmap-wx", "mprotect-x", "pkey_mprotect-x", "shmat-x", "clone-user", "clone-mount", "unshare",
                "unshare-user",
                "setns", "process_vm_readv", "process_vm_writev", "ptrace", "personality", "sched-fifo", "sched-other",
                "nice",
                "setuid", "setgroups", "openat-suid", "openat-sgid", "openat-tmpfile-suid", "chmod-suid", "fchmod-sgid",
                "fchmodat-suid", "mkdir-sgid", "mkfifo-suid", "old-open-suid", "old-creat-suid", "chown", "mount",
                "chroot",
                "io_uring", "bpf", "keyctl", "userfaultfd", "perf",
            ],
            "ENOSYS": ["clone3", "openat2", "unknown"],
        ]
        for (outcome, names) in expected {
            for name in names { #expect(outcomes[name] == outcome, "\(name)") }
        }
        // Unknown to some versions of libseccomp.
        #expect(["EPERM", "ENOSYS"].contains(outcomes["fchmodat2-suid"]))
        #expect(Set(outcomes.keys) == Set(expected.values.joined()).union(["fchmodat2-suid"]))
    }

    /// Control: the filter refuses these calls, not the machine.
    @Test("without the filter, these calls are allowed")
    func calls_withoutTheFilter_areAllowed() async throws {
        let outcomes = try await outcomes(of: "unfiltered")
        let names = [
            "socket-inet", "socket-inet-thread", "mmap-wx", "mprotect-x", "personality", "sched-other", "chmod-suid",
            "fchmod-sgid",
            "openat-suid", "openat-sgid", "openat-tmpfile-suid", "mkdir-sgid", "unshare",
        ]
        for name in names { #expect(outcomes[name] == "done", "\(name)") }
    }

    #if arch(x86_64)
    @Test("a call of another architecture ends the process")
    func callOfAnotherArchitecture_endsTheProcess() async throws {
        let probe = try await Command.run(SystemCallFilterTests.probe, ["foreign"])
        #expect(probe.status == .killed(signal: SIGSYS))
        #expect(probe.text == "")
    }
    #endif

    /// Returns the outcome of each call that the probe tries.
    private func outcomes(of mode: String) async throws -> [String: String] {
        let folder = try TemporaryFolder()
        let probe = try await Command.run(SystemCallFilterTests.probe, [mode, folder.path])
        #expect(probe.succeeded, "\(probe.text) \(probe.errors)")
        return Dictionary(
            probe.text.split(separator: "\n").map { line in
                let words = line.split(separator: " ", maxSplits: 1).map(String.init)
                return (words[0], words.count > 1 ? words[1] : "")
            },
            uniquingKeysWith: { first, _ in first }
        )
    }

    private static var probe: String { KeychainDaemon.product("KeychaindHardeningProbe") }
}
