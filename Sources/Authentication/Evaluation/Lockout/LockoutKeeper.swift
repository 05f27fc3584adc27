package import DBus
package import Gcrypt

/// Keeps count of failed attempts, and has every count on disk before what it is about goes on.
@BusActor
package final class LockoutKeeper {
    private enum State {
        case unread
        case reading([CheckedContinuation<Void, Never>])
        case ready(Lockout)
    }

    private let store: any LockoutStore
    private let clock: BootClock
    private var state = State.unread

    /// How many attempts are under way.
    package private(set) var attempts = 0

    /// Creates a keeper, which reads its record when it is first asked something.
    package init(store: any LockoutStore, clock: BootClock = .system) {
        self.store = store
        self.clock = clock
    }

    /// Whether biometry is locked until a passcode is right; it is as long as the record was not read.
    package var isBiometryLocked: Bool {
        lockout.isBiometryLocked
    }

    /// Sees that the record has been read.
    package func load() async {
        switch state {
        case .ready:
            return
        case .reading:
            await withCheckedContinuation { continuation in
                guard case .reading(let waiting) = state else { return continuation.resume() }
                state = .reading(waiting + [continuation])
            }
        case .unread:
            state = .reading([])
            let lockout = Lockout(await store.load(), clock: clock)
            guard case .reading(let waiting) = state else { return }
            state = .ready(lockout)
            for continuation in waiting {
                continuation.resume()
            }
        }
    }

    /// How long no passcode is tried; zero if one may be.
    package func passcodeDelay() async -> Duration {
        await load()
        return lockout.passcodeDelay(at: clock.now)
    }

    /// Tries a passcode, unless it is too early.
    package func attempt(
        _ passcode: consuming SecureBytes,
        on verifier: any Passcode
    ) async -> PasscodeAttempt {
        attempts += 1
        defer { attempts -= 1 }
        await load()
        // Looked at and counted without a wait between, so that of two at once the second sees the first.
        let now = clock.now
        let delay = lockout.passcodeDelay(at: now)
        guard delay == .zero else { return .tooEarly(delay) }
        await change { $0.passcodeIsTried(at: now) }
        switch await verifier.verify(passcode) {
        case .right:
            await change { $0.passcodeWasRight() }
            return .right
        case .wrong:
            return .wrong
        case .failed(let reason):
            await change { $0.passcodeWasNotTried() }
            return .failed(reason: reason)
        }
    }

    /// Forgets all failures, as a passcode was right somewhere else.
    package func passcodeWasRight() async {
        await load()
        await change { $0.passcodeWasRight() }
    }

    /// What is remembered; nil as long as it was not read.
    package var known: Lockout? {
        if case .ready(let lockout) = state { lockout } else { nil }
    }

    /// Counts a touch that did not match.
    func touchFailed() async {
        await load()
        await change { $0.touchFailed() }
    }

    /// Takes note of a touch that has matched.
    func touchMatched() async {
        await load()
        await change { $0.touchMatched() }
    }

    /// Changes what is remembered, at once, and returns when that is on disk.
    private func change(_ body: (inout Lockout) -> Void) async {
        let before = lockout
        var after = before
        body(&after)
        guard after != before else { return }
        state = .ready(after)
        await store.save(after.record)
    }

    /// What is remembered, once it was read; before that, the worst.
    private var lockout: Lockout {
        if case .ready(let lockout) = state { lockout } else { Lockout(.unreadable, clock: clock) }
    }
}
