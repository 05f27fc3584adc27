import Foundation
import Glibc
import KeychaindGcrypt
import Testing

// Each test initializes libgcrypt in its own way. A process can do that once, so they run in processes of their own.
@Suite struct InitializationTests {
    @Test func initialize_withinLimit_firstCallDecides() async {
        await #expect(processExitsWith: .success) {
            // Only root may exceed the limit, and is then unlimited.
            var limit = rlimit()
            getrlimit(.init(__RLIMIT_MEMLOCK.rawValue), &limit)
            guard geteuid() == 0 || limit.rlim_cur >= 64 * 1024 else { return }
            let first = try Gcrypt.initialize(lockedBytes: 32 * 1024)
            let second = try Gcrypt.initialize(lockedBytes: 16 * 1024 * 1024)
            #expect(first == .locked && second == .locked)
            #expect(code { _ = try SecureBytes(count: 64 * 1024, in: .locked) } == .outOfLockedMemory)
        }
    }

    @Test func initialize_withinLimit_locksPagesAsTheyAreUsed() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit()
            getrlimit(.init(__RLIMIT_MEMLOCK.rawValue), &limit)
            guard geteuid() == 0 || limit.rlim_cur >= 8 << 20 else { return }
            _ = try Gcrypt.initialize(lockedBytes: 8 << 20)
            let before = try lockedMemory()
            #expect(before.space == 8 << 10)
            #expect(before.resident < 64)
            let half = try SecureBytes.random(count: 4 << 20, in: .locked)
            #expect(try lockedMemory().resident >= 4 << 10)
            _ = half
        }
    }

    @Test func initialize_overLimit_isReportedAndWorks() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit(rlim_cur: 0, rlim_max: 0)
            setrlimit(.init(__RLIMIT_MEMLOCK.rawValue), &limit)
            // Root ignores the limit.
            if geteuid() == 0 { #expect(setuid(65534) == 0) }
            guard case .notLocked(let reason) = try Gcrypt.initialize(lockedBytes: 64 * 1024) else {
                Issue.record("64 KiB were locked past the limit")
                return
            }
            #expect(reason.contains("RLIMIT_MEMLOCK"))
            let bytes = try SecureBytes(copying: [1, 2, 3], in: .locked)
            #expect(bytes.array() == [1, 2, 3])
        }
    }

    @Test func initialize_concurrent_returnsSameResult() async {
        await #expect(processExitsWith: .success) {
            let answers = try await withThrowingTaskGroup(of: Gcrypt.LockedMemory.self) { group in
                for _ in 0..<32 {
                    group.addTask { try Gcrypt.initialize(lockedBytes: 64 * 1024) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count == 32)
            #expect(answers.allSatisfy { $0 == answers[0] })
        }
    }

    @Test(arguments: [Int.min, -1, 0, 16 * 1024 - 1, 64 * 1024 * 1024 + 1, Int.max])
    func initialize_sizeOutOfBounds_throws(size: Int) {
        #expect(code { _ = try Gcrypt.initialize(lockedBytes: size) } == .invalidParameters)
    }

    @Test func everyType_beforeInitialize_works() async {
        await #expect(processExitsWith: .success) {
            let key = try SealingKey(SecureBytes(count: 32))
            #expect(try key.open(key.seal([1], []), []) == [1])
        }
        await #expect(processExitsWith: .success) {
            let hmac = try HMACSHA256(key: SecureBytes(count: 0))
            #expect(try hmac.authenticate().count == HMACSHA256.size)
        }
        await #expect(processExitsWith: .success) {
            let derived = try Argon2id(memoryKiB: 8, iterations: 1, lanes: 1)
                .derive(password: SecureBytes(count: 1), salt: [UInt8](repeating: 0, count: 8), count: 32)
            #expect(derived.array().count == 32)
        }
        await #expect(processExitsWith: .success) {
            let pair = try DiffieHellman(.oakley2)
            let size = pair.publicKey.count
            #expect(size == 128)
        }
    }

    @Test func lockedMemory_exhausted_isRefusedUntilFreed() async {
        await #expect(processExitsWith: .success) {
            _ = try Gcrypt.initialize(lockedBytes: 16 * 1024)
            let key = try SecureBytes(count: 32)
            do {
                let most = try SecureBytes(count: 15 * 1024 + 512, in: .locked)
                #expect(code { _ = try SecureBytes(count: 4096, in: .locked) } == .outOfLockedMemory)
                #expect(code { _ = try SealingKey(key) } == .outOfLockedMemory)
                #expect(code { _ = try HMACSHA256(key: key) } == .outOfLockedMemory)
                #expect(code { _ = try SecureBytes(count: 4096) } == nil)
                _ = most
            }
            // Refused allocations leave nothing behind.
            #expect(code { _ = try SecureBytes(count: 15 * 1024, in: .locked) } == nil)
        }
    }

    // A key that is there works without room for more.
    @Test func lockedMemory_full_messagesAreAuthenticatedAndSealed() async {
        await #expect(processExitsWith: .success) {
            _ = try Gcrypt.initialize(lockedBytes: 16 * 1024)
            let hmac = try HMACSHA256(key: SecureBytes(count: 32))
            let key = try SealingKey(SecureBytes(count: 32))
            let expected = try hmac.authenticate()
            let pieces = try allOfThePool()
            #expect(try hmac.authenticate() == expected)
            #expect(try key.open(key.seal([1], []), []) == [1])
            _ = pieces
        }
    }
}

/// What is left of the pool, in pieces down to the smallest.
private func allOfThePool() throws -> [Handoff<SecureBytes>] {
    var pieces: [Handoff<SecureBytes>] = []
    var size = 8 * 1024
    while size > 0 {
        do throws(GcryptError) {
            pieces.append(Handoff(try SecureBytes(count: size, in: .locked)))
        } catch {
            guard error.code == .outOfLockedMemory else { throw error }
            size /= 2
        }
    }
    return pieces
}

/// The locked address space of this process, and how much of it is resident, in KiB.
private func lockedMemory() throws -> (space: Int, resident: Int) {
    func kibibytes(_ field: String, in file: String) throws -> Int? {
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        return lines.first { $0.hasPrefix(field) }.flatMap { Int($0.split(separator: " ")[1]) }
    }
    return (
        try #require(try kibibytes("VmLck:", in: "/proc/self/status")),
        try #require(try kibibytes("Locked:", in: "/proc/self/smaps_rollup"))
    )
}

@Suite struct GcryptErrorTests {
    @Test func equality_sameCodeOtherReason_isEqual() {
        #expect(GcryptError(.outOfMemory, reason: "one") == GcryptError(.outOfMemory, reason: "another"))
    }

    @Test func equality_otherCodeSameReason_isNotEqual() {
        #expect(GcryptError(.outOfMemory, reason: "one") != GcryptError(.outOfLockedMemory, reason: "one"))
    }

    @Test func description_hasCodeAndReason() {
        #expect("\(GcryptError(.invalidPublicKey, reason: "too small"))" == "invalidPublicKey: too small")
    }
}
