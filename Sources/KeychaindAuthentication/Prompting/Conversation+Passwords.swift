import KeychaindDBus
package import KeychaindGcrypt

/// The result of asking for a password; not copyable, as it may hold one.
package enum AskedPassword: ~Copyable, Sendable {
    case right(SecureBytes)
    /// The person cancelled, the conversation ended, or the prompter failed.
    case unanswered
    /// No try is left, or no further request was made.
    case stopped
    /// The password could not be tried.
    case failed(reason: String)
}

extension Conversation {
    /// Asks for a password until it is right, with a warning after each wrong one.
    ///
    /// - Parameters:
    ///   - tries: the maximum number of passwords.
    ///   - request: makes the request before each try, without its warning; nil stops asking.
    package func askPassword(
        tries: Int = .max,
        verifiedBy verifier: any PasswordVerifier,
        countedBy lockout: PasswordLockout,
        _ request: @BusActor () async -> PromptRequest?
    ) async -> AskedPassword {
        var warning = ""
        for _ in 0..<tries {
            guard var request = await request() else { return .stopped }
            request.warning = warning
            guard let password = await password(request) else { return .unanswered }
            let kept: SecureBytes
            do throws(GcryptError) {
                kept = try password.copy(in: .locked)
            } catch {
                return .failed(reason: "\(error)")
            }
            let result = await lockout.attempt(password, on: verifier, from: PasswordLockout.Source(trustOfAnswer))
            switch result {
            case .right: return .right(kept)
            case .failed(let reason): return .failed(reason: reason)
            case .wrong, .tooEarly: warning = result.warning ?? ""
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
            request.warning = PasswordResult.wrong(.empty).warning ?? ""
        }
    }

    /// Asks for a password once; nil, with the reason in the log, if there is no answer.
    package func password(_ request: PromptRequest) async -> SecureBytes? {
        guard let answer = try? await ask(request), case .password(let password) = consume answer else { return nil }
        return password
    }
}
