import KeychaindAuthentication
import KeychaindDBus
import KeychaindGcrypt
import KeychaindVault

/// Verifies the passcode by opening a key slot of `login`.
///
/// Keeps the key from the last correct passcode, which opens item keys.
@BusActor
final class VaultPasscode: PasswordVerifier {
    private let vault: Vault
    private(set) var key: PasscodeKey?

    init(_ vault: Vault) {
        self.vault = vault
    }

    var isSet: Bool { vault.hasPasscode }

    func verify(_ passcode: consuming SecureBytes) async -> PasswordResult {
        do throws(VaultError) {
            key = try await vault.verifyPasscode(passcode)
            return .right
        } catch {
            return PasswordResult(error)
        }
    }

    func forget() {
        key = nil
    }
}
