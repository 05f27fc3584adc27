import DBus

/// One showing of polkit's dialog.
@BusActor
final class PolkitAuthentication: SystemAuthentication {
    private enum State {
        case starting
        case asking(PolkitAuthority, cancellationID: String)
        case ended(AuthenticationError?)
    }

    /// All dialogs together: they have one connection.
    private static var count: UInt64 = 0

    private let dialog: PolkitDialog
    private let message: String
    private let limits: PolkitLimits
    private var state = State.starting
    private var waiting: [CheckedContinuation<AuthenticationError?, Never>] = []
    private var isGone = false
    private var waitingForItsEnd: [CheckedContinuation<Void, Never>] = []

    /// Creates a showing that has still to be ``start()``ed.
    init(_ dialog: PolkitDialog, _ message: String, _ limits: PolkitLimits) {
        self.dialog = dialog
        self.message = message
        self.limits = limits
    }

    /// Begins to ask.
    func start() {
        BusActor.start { [self] in
            do throws(AuthenticationError) {
                let (authority, subject) = try await dialog.findAuthority()
                let error = try await ask(authority, subject)
                if error == nil { try await dialog.confirm(subject, of: authority) }
                end(error)
            } catch {
                end(error)
            }
            markGone()
        }
    }

    /// Waits for the end; that it was cancelled is told at once.
    func outcome() async -> AuthenticationError? {
        await withCheckedContinuation { continuation in
            if case .ended(let error) = state {
                continuation.resume(returning: error)
            } else {
                waiting.append(continuation)
            }
        }
    }

    /// Takes the dialog away.
    func cancel() {
        if case .ended = state { return }
        withdraw()
        end(AuthenticationError(.systemCancel, reason: "the authentication was cancelled"))
        BusActor.loop.schedule(after: limits.check) { [weak self] in self?.markGone() }
    }

    /// Waits until polkit has answered: before that its dialog may still be there.
    ///
    /// A polkit that does not answer a cancellation is not waited for longer than ``PolkitLimits/check``.
    func waitUntilGone() async {
        await withCheckedContinuation { continuation in
            if isGone { continuation.resume() } else { waitingForItsEnd.append(continuation) }
        }
    }

    // MARK: Asking

    /// Asks with the message; without it, if polkit does not take one from us.
    private func ask(_ authority: PolkitAuthority, _ subject: PolkitSubject) async throws(AuthenticationError)
        -> AuthenticationError?
    {
        do throws(BusError) {
            return PolkitAuthentication.judge(try await ask(authority, subject, ["polkit.message": message]))
        } catch {
            guard error.name == PolkitAuthority.notAuthorized else { throw failure(error) }
        }
        do throws(BusError) {
            return PolkitAuthentication.judge(try await ask(authority, subject, [:]))
        } catch {
            throw failure(error)
        }
    }

    private func ask(
        _ authority: PolkitAuthority,
        _ subject: PolkitSubject,
        _ details: [String: String]
    ) async throws(BusError) -> PolkitResult {
        if case .ended = state { throw BusError(.failed, "cancelled") }
        PolkitAuthentication.count += 1
        let id = "keychaind\(PolkitAuthentication.count)"
        state = .asking(authority, cancellationID: id)
        return try await authority.ask(
            subject,
            PolkitDialog.action,
            details: details,
            cancellationID: id,
            timeout: limits.answer
        )
    }

    private static func judge(_ result: PolkitResult) -> AuthenticationError? {
        if result.isAuthorized { return nil }
        if result.isDismissed { return AuthenticationError(.userCancel, reason: "the dialog was dismissed") }
        if result.isChallenge {
            return AuthenticationError(.notInteractive, reason: "there is no program that shows polkit's dialog")
        }
        return AuthenticationError(.authenticationFailed, reason: "polkit has refused")
    }

    /// An error of polkit's, or no answer: mostly, nobody has answered in time, or polkit has ended.
    private func failure(_ error: BusError) -> AuthenticationError {
        withdraw()
        return AuthenticationError(.systemCancel, reason: "polkit gives no answer: \(error)")
    }

    // MARK: Ending

    private func withdraw() {
        guard case .asking(let authority, let id) = state else { return }
        authority.cancel(id)
    }

    private func markGone() {
        isGone = true
        let resumed = waitingForItsEnd
        waitingForItsEnd = []
        for continuation in resumed {
            continuation.resume()
        }
    }

    private func end(_ error: AuthenticationError?) {
        if case .ended = state { return }
        state = .ended(error)
        let resumed = waiting
        waiting = []
        for continuation in resumed {
            continuation.resume(returning: error)
        }
    }
}
