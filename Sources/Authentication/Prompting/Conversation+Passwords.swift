import DBus
package import Gcrypt

/// How asking for a password ended; not copyable, as it may hold the password.
package enum AskedPassword: ~Copyable, Sendable {
    /// The person gave the right password.
    case right(SecureBytes)
    /// There is no answer: the person has cancelled, the conversation has ended, or the prompter has failed.
    case unanswered
    /// Nothing is asked any more: the caller of ``Conversation/askPassword(tries:verifiedBy:countedBy:_:)`` gave no
    /// further request, or the tries are used up.
    case stopped
    /// A password could not be tried; the reason is for a log.
    case failed(reason: String)
}

extension Conversation {
    /// Asks for a password until it is right: asks, tries the answer under the lockout, and asks again with a warning.
    ///
    /// - Parameters:
    ///   - tries: the number of passwords that may be given.
    ///   - lockout: the lockout of the password.
    ///   - request: makes the request before each try; nil stops asking. Its warning is set here.
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

    /// Asks for a password once; nil if there is no answer, for a reason that is in the log.
    package func password(_ request: PromptRequest) async -> SecureBytes? {
        guard let answer = try? await ask(request), case .password(let password) = consume answer else { return nil }
        return password
    }
}
