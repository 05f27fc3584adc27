import Authentication
import DBus
import Gcrypt
import Vault

/// The passcode, verified by what it opens: a key slot of `login`, or of the collection that an item is in.
///
/// It keeps the key of the last one that was right, for as long as item keys are to be had with it.
@BusActor
final class VaultPasscode: Passcode {
    private let vault: Vault
    private let collection: Collection?
    let lockout: LockoutKeeper?
    private(set) var key: PasscodeKey?

    /// - Parameters:
    ///   - collection: what the key is needed for; nil for `login`, and what its passcode leads to.
    ///   - lockout: of that collection's own password: who knows that of one must not end the delays of another.
    init(_ vault: Vault, for collection: Collection? = nil, countedBy lockout: LockoutKeeper? = nil) {
        self.lockout = lockout
        self.vault = vault
        self.collection = collection
    }

    var isSet: Bool { vault.hasPasscode }

    func verify(_ passcode: consuming SecureBytes) async -> PasscodeOutcome {
        do throws(VaultError) {
            key = try await vault.verifyPasscode(passcode, for: collection)
            return .right
        } catch  where error.code == .wrongPassword || error.code == .emptyPassword {
            return .wrong
        } catch {
            return .failed(reason: error.reason)
        }
    }

    /// Wipes the key.
    func forget() {
        key = nil
    }
}
