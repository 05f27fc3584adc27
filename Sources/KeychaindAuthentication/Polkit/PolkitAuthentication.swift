import KeychaindDBus

/// One dialog of polkit.
@BusActor
final class PolkitAuthentication: SystemAuthentication {
    private enum State {
        case starting
        case asking(PolkitAuthority, cancellationID: String)
        case ended
    }

    /// Shared by all dialogs, which use one connection.
    private static var count: UInt64 = 0

    private let dialog: PolkitDialog
    private let message: String
    private let limits: PolkitLimits
    private var state = State.starting
    private let result = Promise<AuthenticationError?>()
    private let disappearance = Promise<Void>()

    init(_ dialog: PolkitDialog, _ message: String, _ limits: PolkitLimits) {
        self.dialog = dialog
        self.message = message
        self.limits = limits
    }

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

    /// Waits for the result; a cancellation ends the wait immediately.
    func outcome() async -> AuthenticationError? { await result.value() }

    func cancel() {
        if case .ended = state { return }
        withdraw()
        end(AuthenticationError(.systemCancel, reason: "the authentication was cancelled"))
        BusActor.loop.schedule(after: limits.check) { [disappearance] in disappearance.fulfill() }
    }

    /// Waits for polkit's answer, until which the dialog may be visible.
    ///
    /// After a cancellation, the limit is ``PolkitLimits/check``.
    func waitUntilGone() async { await disappearance.wait() }

    // MARK: Asking

    /// Asks again without the message if polkit does not accept it.
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
            return AuthenticationError(.notInteractive, reason: "no polkit agent is running to show the dialog")
        }
        return AuthenticationError(.authenticationFailed, reason: "polkit refused the authorisation")
    }

    /// The failure for a bus error, usually a timeout or polkit's exit.
    private func failure(_ error: BusError) -> AuthenticationError {
        withdraw()
        return AuthenticationError(.systemCancel, reason: "polkit did not answer: \(error)")
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

/// Time limits for polkit and the person.
package struct PolkitLimits: Sendable {
    /// For checks without a person, including the start of polkit.
    package var check = Duration.seconds(5)

    /// For the person's answer.
    package var answer = Duration.seconds(300)

    package init() {}
}
