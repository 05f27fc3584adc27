import KeychaindAuthentication
import KeychaindDBus
import KeychaindGcrypt
import KeychaindVault

/// Verifies the passcode by opening a key slot of `login`, or of the collection of an item.
///
/// Keeps the key from the last correct passcode, which opens item keys.
@BusActor
final class VaultPasscode: PasswordVerifier {
    private let vault: Vault
    private let collection: Collection?
    let lockout: LockoutKeeper?
    private(set) var key: PasscodeKey?

    /// - Parameters:
    ///   - collection: the collection whose items the key must open; nil for `login`.
    ///   - lockout: the lockout of that collection's own password, which must not end the lockout of another.
    init(_ vault: Vault, for collection: Collection? = nil, countedBy lockout: LockoutKeeper? = nil) {
        self.lockout = lockout
        self.vault = vault
        self.collection = collection
    }

    var isSet: Bool { vault.hasPasscode }

    func verify(_ passcode: consuming SecureBytes) async -> PasswordResult {
        do throws(VaultError) {
            key = try await vault.verifyPasscode(passcode, for: collection)
            return .right
        } catch {
            return PasswordResult(error)
        }
    }

    func forget() {
        key = nil
    }
}
