package import KeychaindDBus
package import KeychaindGcrypt

/// Counts failed attempts; each count is on disk before its attempt.
@BusActor
package final class LockoutKeeper {
    private enum State {
        case unread
        case reading(Promise<Lockout>)
        case ready(Lockout)
    }

    private let store: any LockoutStore
    private let clock: BootClock
    private let start: UInt32
    private let isShared: Bool
    private var state = State.unread

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
        lockout.isBiometryLocked
    }

    /// Reads the record, once.
    package func load() async {
        switch state {
        case .ready:
            return
        case .reading(let promise):
            _ = await promise.value()
        case .unread:
            let promise = Promise<Lockout>()
            state = .reading(promise)
            let record = await store.load()
            let lockout = record.map { Lockout($0, clock: clock) } ?? Lockout(startingAt: start, clock: clock)
            state = .ready(lockout)
            promise.fulfill(lockout)
        }
    }

    /// Reads the record anew at the next use, unless a password is being tried.
    package func readAgain() {
        guard attempts == 0, case .ready = state else { return }
        state = .unread
    }

    /// The time until the next password is accepted.
    package func passcodeDelay() async -> Duration {
        await load()
        return lockout.passcodeDelay(at: clock.now)
    }

    /// Tries a password, unless the lockout lasts.
    ///
    /// - Parameter clearing: whether the right password resets the counts.
    package func attempt(
        _ password: consuming SecureBytes,
        on verifier: any PasswordVerifier,
        clearing: Bool = true
    ) async -> PasswordResult {
        attempts += 1
        defer { attempts -= 1 }
        await load()
        // No suspension between check and count: of two concurrent attempts, the second sees the first.
        let now = clock.now
        let delay = lockout.passcodeDelay(at: now)
        guard delay == .zero else { return .tooEarly(delay) }
        await change { $0.passcodeIsTried(at: now) }
        let result = await verifier.verify(password)
        switch result {
        case .right where isShared || !clearing: await change { $0.passcodeWasNotTried() }
        case .right: await change { $0.passcodeWasRight() }
        case .wrong(let mistake, _): return .wrong(mistake, wait: lockout.passcodeDelay(at: clock.now))
        case .tooEarly, .notNeeded, .failed: await change { $0.passcodeWasNotTried() }
        }
        return result
    }

    /// Resets all counts after the right passcode was given elsewhere.
    package func passcodeWasRight() async {
        guard !isShared else { return }
        await load()
        await change { $0.passcodeWasRight() }
    }

    /// The lockout; nil until the record is read.
    package var known: Lockout? {
        if case .ready(let lockout) = state { lockout } else { nil }
    }

    func touchFailed() async {
        await load()
        await change { $0.touchFailed() }
    }

    func touchMatched() async {
        await load()
        await change { $0.touchMatched() }
    }

    /// Changes the record at once; returns when it is on disk.
    private func change(_ body: (inout Lockout) -> Void) async {
        let before = lockout
        var after = before
        body(&after)
        guard after != before else { return }
        state = .ready(after)
        if before.isBiometryLocked, !after.isBiometryLocked { onBiometryUnlocked?() }
        await store.save(after.record)
    }

    /// The lockout; the strictest one until the record is read.
    private var lockout: Lockout {
        if case .ready(let lockout) = state { lockout } else { Lockout(.unreadable, clock: clock) }
    }
}

/// Storage for the record of failed attempts.
@BusActor
package protocol LockoutStore: AnyObject {
    /// Reads the last record: nil if there is none, ``LockoutRecord/unreadable`` if it is damaged.
    func load() async -> LockoutRecord?

    /// Saves a record, and returns once it is on disk; the implementation logs failures.
    func save(_ record: LockoutRecord) async
}
