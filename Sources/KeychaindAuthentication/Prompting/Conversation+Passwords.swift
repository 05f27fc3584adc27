package import KeychaindDBus
package import KeychaindGcrypt
package import KeychaindLanguage

/// The result of asking for a password; not copyable, as it may hold one.
package enum AskedPassword: ~Copyable, Sendable {
    case right(SecureBytes)
    /// The person cancelled, the conversation ended, or the prompter failed.
    case unanswered
    /// No try is left, no further request was made, or no password is needed any more.
    case stopped
    /// The password could not be tried.
    case failed(reason: String)
}

/// Another way to answer the dialog for a password, such as a touch of a security key.
@BusActor
package protocol PasswordAlternative: AnyObject {
    /// Starts, when the dialog with the request is on the screen.
    func begin(with request: PromptRequest)

    /// Ends when the dialog is answered; true if no password is needed any more.
    func end() async -> Bool

    /// The dialog is not trusted, so that only a password can answer it.
    func distrust()

    /// Runs after an empty password, with dialogs of its own.
    func choose() async -> AlternativeChoice
}

/// The outcome of another way to answer.
package enum AlternativeChoice: Hashable, Sendable {
    /// No password is needed any more.
    case done
    /// The dialog for the password comes again, with a warning.
    case again(warning: Text)
    /// The person has cancelled.
    case cancelled
}

extension Conversation {
    /// Asks for a password until it is right, with a warning after each wrong one.
    ///
    /// - Parameters:
    ///   - tries: the maximum number of passwords.
    ///   - alternative: another way to answer; an empty password chooses it.
    ///   - request: makes the request before each try, without its warning; nil stops asking.
    package func askPassword(
        tries: Int = .max,
        verifiedBy verifier: any PasswordVerifier,
        countedBy lockout: PasswordLockout,
        or alternative: (any PasswordAlternative)? = nil,
        _ request: @BusActor () async -> PromptRequest?
    ) async -> AskedPassword {
        var (warning, delay) = (Text.empty, Duration.zero)
        for _ in 0..<tries {
            guard var request = await request() else { return .stopped }
            request.warn(warning, delay: delay)
            let asked: PromptAnswer?
            do throws(PromptError) {
                asked = try await ask(request) { [request] in alternative?.begin(with: request) }
            } catch {
                asked = nil
                if error.code == .notTrusted, request.acceptsTouch, let alternative {
                    alternative.distrust()
                    continue
                }
            }
            verifier.passwordWasGiven()
            if await alternative?.end() == true { return .stopped }
            guard let asked = consume asked, case .password(let password) = consume asked else { return .unanswered }
            // May wait for a disk, which a person who has cancelled need not.
            await verifier.prepare()
            if password.isEmpty, let alternative {
                switch await alternative.choose() {
                case .done: return .stopped
                case .again(let text): (warning, delay) = (text, .zero)
                case .cancelled: return .unanswered
                }
                continue
            }
            let kept: SecureBytes
            do throws(GcryptError) {
                kept = try password.copy(in: .locked)
            } catch {
                return .failed(reason: "\(error)")
            }
            let result = await lockout.attempt(password, on: verifier, from: PasswordLockout.Source(trustOfAnswer))
            switch result {
            case .right: return .right(kept)
            case .notNeeded: return .stopped
            case .failed(let reason): return .failed(reason: reason)
            case .wrong, .tooEarly, .notCounted: (warning, delay) = (result.warning ?? .empty, result.delay)
            }
        }
        return .stopped
    }

    /// Asks for a new password until it is not empty; nil if there is no answer.
    package func askNewPassword(_ request: PromptRequest) async -> SecureBytes? {
        var request = request
        while true {
            guard let password = await password(request) else { return nil }
            if !password.isEmpty { return password }
            request.warn(PasswordResult.wrong(.empty).warning ?? .empty)
        }
    }

    /// Asks for a password once; nil, with the reason in the log, if there is no answer.
    package func password(_ request: PromptRequest) async -> SecureBytes? {
        guard let answer = try? await ask(request), case .password(let password) = consume answer else { return nil }
        return password
    }
}
