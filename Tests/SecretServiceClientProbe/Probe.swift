import CKeychaindGcrypt
import Glibc
import SecretServiceClient

/// The effects of the library on its process, observed from inside.
enum Probe {
    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) {
            self.description = description
        }
    }

    /// Runs a probe; throws what it found.
    static func run(_ name: String) async throws {
        switch name {
        case "round-trip": try await roundTrip()
        case "signals": try await leavesSignalsAlone()
        case "fork": try await refusesInChild()
        case "gcrypt": try await takesStartedLibgcrypt()
        case "descriptors": try await survivesWithoutDescriptors()
        case "refused-secret": try await wipesRefusedSecret()
        case "credential": try await wipesCredential()
        default: throw Failure("there is no probe '\(name)'")
        }
    }

    private static func roundTrip() async throws {
        let client = try await SecretClient.connect()
        guard let collection = try await client.defaultCollection() else { throw Failure("no default collection") }
        let item = try await collection.createItem(label: "probe", attributes: ["probe": "1"], secret: Secret("secret"))
        guard try await item.secret().text == "secret" else { throw Failure("another secret came back") }
    }

    private static func leavesSignalsAlone() async throws {
        // Ignored by the parent process.
        signal(SIGPIPE, SIG_DFL)
        let before = try dispositions()
        try await roundTrip()
        let after = try dispositions()
        guard after == before else { throw Failure("the signal handlers changed: \(before) \(after)") }
    }

    /// The lines of `/proc/self/status` with the ignored and caught signals.
    private static func dispositions() throws -> [String] {
        guard let file = fopen("/proc/self/status", "r") else { throw Failure("no status of the process") }
        defer { fclose(file) }
        var lines: [String] = []
        var buffer = [CChar](repeating: 0, count: 4096)
        while let line = fgets(&buffer, Int32(buffer.count), file) {
            lines.append(String(cString: line))
        }
        // The last eight digits; glibc handles signals of its own among the others once there is a second thread.
        return lines.filter { $0.hasPrefix("SigIgn") || $0.hasPrefix("SigCgt") }.map { String($0.suffix(9)) }
    }

    private static func refusesInChild() async throws {
        let client = try await SecretClient.connect()
        try await roundTrip()
        // Swift hides fork, for reasons that this probe checks.
        guard let symbol = dlsym(nil, "fork") else { throw Failure("no fork") }
        let fork = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)
        let child = fork()
        if child == 0 {
            do throws(SecretServiceError) {
                _ = try await client.collections()
                _exit(1)
            } catch {
                _exit(error.code == .forked ? 0 : 2)
            }
        }
        var status: Int32 = 0
        guard waitpid(child, &status, 0) == child, status == 0 else {
            throw Failure("the child has ended with \(status)")
        }
        // The child did not close the connection.
        _ = try await client.collections()
    }

    private static func takesStartedLibgcrypt() async throws {
        guard gcry_check_version(nil) != nil else { throw Failure("no libgcrypt") }
        _ = keychaind_gcry_initialize_secure_memory(32768)
        keychaind_gcry_finish_initialization()
        try await roundTrip()
    }

    private static func survivesWithoutDescriptors() async throws {
        var before = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &before)
        var limit = before
        limit.rlim_cur = 3
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let code = await failure { () throws(SecretServiceError) in _ = try await SecretClient.connect() }
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &before)
        guard code == .busUnavailable else { throw Failure("it has failed with \(code.map { "\($0)" } ?? "nothing")") }
        try await roundTrip()
    }

    /// For a provider without encryption that answers `SetSecret` with `IsLocked`.
    private static func wipesRefusedSecret() async throws {
        var configuration = SecretClient.Configuration()
        configuration.encryption = .none
        let client = try await SecretClient.connect(configuration)
        let item = try client.item(at: "/org/freedesktop/secrets/collection/login/1")
        do {
            let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: MemoryScan.count, alignment: 1)
            for index in bytes.indices { bytes[index] = MemoryScan.byte(index) }
            let secret = try Secret(copying: UnsafeRawBufferPointer(bytes))
            for index in bytes.indices { bytes[index] = 0 }
            bytes.deallocate()
            guard MemoryScan.occurrences() == 1 else { throw Failure("the secret is not found where it is") }
            let code = await failure { () throws(SecretServiceError) in
                try await item.setSecret(secret, prompting: .never)
            }
            guard code == .locked else { throw Failure("the secret was not refused") }
        }
        let count = MemoryScan.occurrences()
        guard count == 0 else { throw Failure("the secret lies in memory, \(count) times") }
    }

    /// For a provider without encryption that takes credentials.
    private static func wipesCredential() async throws {
        var configuration = SecretClient.Configuration()
        configuration.encryption = .none
        let client = try await SecretClient.connect(configuration)
        guard let context = try await client.makeAuthenticationContext() else { throw Failure("no context") }
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: MemoryScan.count, alignment: 1)
        for index in bytes.indices { bytes[index] = MemoryScan.byte(index) }
        let password = try Secret(copying: UnsafeRawBufferPointer(bytes))
        for index in bytes.indices { bytes[index] = 0 }
        bytes.deallocate()
        guard MemoryScan.occurrences() == 1 else { throw Failure("the password is not found where it is") }
        try await context.setCredential(password)
        let count = MemoryScan.occurrences()
        // The caller's own is left.
        guard count == 1 else { throw Failure("the password lies in memory, \(count) times") }
        withExtendedLifetime(password) {}
    }

    private static func failure(
        of operation: () async throws(SecretServiceError) -> Void
    ) async -> SecretServiceError.Code? {
        do throws(SecretServiceError) {
            try await operation()
            return nil
        } catch {
            return error.code
        }
    }
}
