import DBus

/// One showing of polkit's dialog.
@BusActor
final class PolkitAuthentication: SystemAuthentication {
    private enum State {
        case starting
        case asking(PolkitAuthority, cancellationID: String)
        case ended
    }

    /// All dialogs together: they have one connection.
    private static var count: UInt64 = 0

    private let dialog: PolkitDialog
    private let message: String
    private let limits: PolkitLimits
    private var state = State.starting
    private let result = Promise<AuthenticationError?>()
    private let disappearance = Promise<Void>()

    /// Creates a showing; ``start()`` starts it.
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
            disappearance.fulfill()
        }
    }

    /// Waits for the end; a cancellation ends the wait immediately.
    func outcome() async -> AuthenticationError? { await result.value() }

    /// Takes the dialog away.
    func cancel() {
        if case .ended = state { return }
        withdraw()
        end(AuthenticationError(.systemCancel, reason: "the authentication was cancelled"))
        BusActor.loop.schedule(after: limits.check) { [disappearance] in disappearance.fulfill() }
    }

    /// Waits until polkit has answered, as its dialog may be there until then; after a cancellation, for
    /// ``PolkitLimits/check`` at most.
    func waitUntilGone() async { await disappearance.wait() }

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

    /// The failure for an error of polkit: usually, nobody has answered in time, or polkit has ended.
    private func failure(_ error: BusError) -> AuthenticationError {
        withdraw()
        return AuthenticationError(.systemCancel, reason: "polkit gives no answer: \(error)")
    }

    // MARK: Ending

    private func withdraw() {
        guard case .asking(let authority, let id) = state else { return }
        authority.cancel(id)
    }

    private func end(_ error: AuthenticationError?) {
        if case .ended = state { return }
        state = .ended
        result.fulfill(error)
    }
}

/// How long polkit, and a person, may take.
package struct PolkitLimits: Sendable {
    /// For what needs no person, starting polkit included.
    package var check = Duration.seconds(5)

    /// For the answer of a person.
    package var answer = Duration.seconds(300)

    /// The limits of the daemon.
    package init() {}
}
