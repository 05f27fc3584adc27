package import KeychaindDBus
package import KeychaindGcrypt

/// Counts failed attempts; each count is on disk before its attempt, and without that a password is not tried.
///
/// A password that the counts refuse waits for those under way, which may be right.
@BusActor
package final class LockoutKeeper {
    private enum State {
        case unread
        case reading(Promise<Count>)
        case ready(Count)
    }

    private struct Count {
        /// Without the passwords under way.
        var settled: Lockout
        /// When each password under way began to be tried.
        var underWay: [Duration] = []

        /// With each password under way as a wrong one.
        var lockout: Lockout {
            var lockout = settled
            for start in underWay { lockout.passcodeIsTried(at: start) }
            return lockout
        }

        mutating func end(_ start: Duration) {
            if let index = underWay.firstIndex(of: start) { underWay.remove(at: index) }
        }
    }

    private let store: any LockoutStore
    private let clock: BootClock
    private let start: UInt32
    private let isShared: Bool
    private var state = State.unread
    /// Fulfilled when one of the passwords under way has been tried.
    private var nextEnd = Promise<Void>()

    /// Passwords under way, and those that wait for them.
    package private(set) var attempts = 0

    /// Called when a right passcode frees a locked reader.
    package var onBiometryUnlocked: (@BusActor () -> Void)?

    /// Creates a keeper, which reads its record at first use.
    ///
    /// - Parameters:
    ///   - start: the count without a record.
    ///   - isShared: whether several passwords are counted, so that a right one says nothing of the others.
    package init(
        store: any LockoutStore,
        clock: BootClock = .system,
        startingAt start: UInt32 = 0,
        isShared: Bool = false
    ) {
        self.store = store
        self.clock = clock
        self.start = start
        self.isShared = isShared
    }

    /// Whether biometry is locked; true until the record is read.
    package var isBiometryLocked: Bool {
        count.settled.isBiometryLocked
    }

    /// Reads the record, once.
    package func load() async {
        switch state {
        case .ready:
            return
        case .reading(let promise):
            _ = await promise.value()
        case .unread:
            let promise = Promise<Count>()
            state = .reading(promise)
            let record = await store.load()
            let lockout = record.map { Lockout($0, clock: clock) } ?? Lockout(startingAt: start, clock: clock)
            let count = Count(settled: lockout)
            state = .ready(count)
            promise.fulfill(count)
        }
    }

    /// Reads the record anew at the next use, unless a password is being tried.
    package func readAgain() {
        guard attempts == 0, case .ready = state else { return }
        state = .unread
    }

    /// The time until the next password is accepted, if those under way are right.
    package func passcodeDelay() async -> Duration {
        await load()
        return count.settled.passcodeDelay(at: clock.now)
    }

    /// Tries a password, unless the lockout lasts.
    ///
    /// - Parameter clearing: whether the right password resets the counts.
    package func attempt(
        _ password: consuming SecureBytes,
        on verifier: any PasswordVerifier,
        clearing: Bool = true
    ) async -> PasswordResult {
        // Return in an empty field is no try.
        if password.isEmpty { return .wrong(.empty) }
        attempts += 1
        defer { attempts -= 1 }
        await load()
        // No suspension between check and count: of two concurrent attempts, the second sees the first.
        var now = clock.now
        while case let delay = count.lockout.passcodeDelay(at: now), delay > .zero {
            guard !count.underWay.isEmpty else { return .tooEarly(delay) }
            await nextEnd.wait()
            now = clock.now
        }
        let start = now
        do throws(LockoutObstacle) {
            try await change { $0.underWay.append(start) }
        } catch {
            try? await change {
                $0.end(start)
            } whenChanged: {
                endAttempt()
            }
            return .notCounted(error)
        }
        let result = await verifier.verify(password)
        // If this cannot be recorded, a right password stays counted, which only costs time.
        try? await change { count in
            count.end(start)
            switch result {
            case .right where isShared || !clearing: break
            case .right: count.settled.passcodeWasRight()
            case .wrong: count.settled.passcodeIsTried(at: start)
            case .tooEarly, .notCounted, .notNeeded, .failed: break
            }
        } whenChanged: {
            endAttempt()
        }
        guard case .wrong(let mistake, _) = result else { return result }
        return .wrong(mistake, wait: count.lockout.passcodeDelay(at: clock.now))
    }

    private func endAttempt() {
        let ended = nextEnd
        nextEnd = Promise()
        ended.fulfill()
    }

    /// Resets all counts after the right passcode was given elsewhere.
    package func passcodeWasRight() async {
        guard !isShared else { return }
        await load()
        try? await change { $0.settled.passcodeWasRight() }
    }

    /// The lockout; nil until the record is read.
    package var known: Lockout? {
        if case .ready(let count) = state { count.lockout } else { nil }
    }

    func touchFailed() async {
        await load()
        // A touch takes a finger; what is not on the disk counts until the end of the process.
        try? await change { $0.settled.touchFailed() }
    }

    func touchMatched() async {
        await load()
        try? await change { $0.settled.touchMatched() }
    }

    /// Changes the record at once; returns when it is on disk, and throws if it cannot be stored there.
    private func change(
        _ body: (inout Count) -> Void,
        whenChanged: () -> Void = {}
    ) async throws(LockoutObstacle) {
        let before = count.lockout
        var changed = count
        body(&changed)
        state = .ready(changed)
        whenChanged()
        let after = changed.lockout
        guard after.record != before.record else { return }
        if before.isBiometryLocked, !after.isBiometryLocked { onBiometryUnlocked?() }
        try await store.save(after.record)
    }

    /// The count; the strictest one until the record is read.
    private var count: Count {
        if case .ready(let count) = state { count } else { Count(settled: Lockout(.unreadable, clock: clock)) }
    }
}

/// Storage for the record of failed attempts.
@BusActor
package protocol LockoutStore: AnyObject {
    /// Reads the last record: nil if there is none, ``LockoutRecord/unreadable`` if it is damaged.
    func load() async -> LockoutRecord?

    /// Saves a record, and returns once it is on disk; the implementation logs failures.
    func save(_ record: LockoutRecord) async throws(LockoutObstacle)
}

/// Why a failed attempt cannot be recorded.
package enum LockoutObstacle: Error, Hashable, Sendable {
    case diskIsFull
    case diskIsReadOnly
    case diskFails
}
