package import KeychaindAuthentication
package import KeychaindDBus
import KeychaindDesktop
package import KeychaindGcrypt
import KeychaindLanguage
import KeychaindModel
import KeychaindVault

/// Unlocks `login` with the password that this process was started with, or creates it.
///
/// Any program can start keychaind, so the password counts as one of a program, before its key is derived.
@BusActor
package final class StartUnlock: PasswordVerifier {
    private let provider: Provider
    private let vaultIsOpen = Promise<Void>()

    package init(_ provider: Provider) {
        self.provider = provider
    }

    package let isSet = true

    /// Tries the password, once ``vaultHasOpened()``; failed attempts must be countable.
    ///
    /// - Parameter hasLogin: whether there is a password that it can be wrong for.
    package func attempt(_ password: consuming SecureBytes, hasLogin: Bool) async -> PasswordResult {
        // It opens nothing, so it is no guess.
        guard !password.isEmpty else { return .failed(reason: "the password is empty") }
        let lockout = PasswordLockout { [provider] _ in hasLogin ? provider.lockouts.programs : nil }
        let result = await lockout.attempt(password, on: self, from: .program)
        if case .wrong = result { provider.audit.passwordWasWrong(of: .login, from: Self.caller) }
        return result
    }

    package func verify(_ password: consuming SecureBytes) async -> PasswordResult {
        await vaultIsOpen.wait()
        guard let login = provider.vault.collection(named: .login) else {
            return .failed(reason: "the keychains are closed")
        }
        do throws(VaultError) {
            return try await provider.unlocker.unlock(login, with: password) ? .right : .notNeeded
        } catch {
            return PasswordResult(error)
        }
    }

    /// Lets the password be tried: calls of programs can be answered next.
    package func vaultHasOpened() {
        vaultIsOpen.fulfill()
    }

    private static let caller = Caller.opaque(
        "",
        reason: Text("it started keychaind with a password")
    )
}
