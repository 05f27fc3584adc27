import KeychaindAuthentication
import KeychaindDBus
import KeychaindGcrypt
import KeychaindVault

/// Verifies the application password of an item by opening the item's key.
@BusActor
final class ApplicationPassword: PasswordVerifier {
    private let item: ProtectedItem
    private let passcode: VaultPasscode
    private let lockouts: LockoutTable
    private(set) var key: ItemKey?

    /// - Parameter passcode: verified first if the policy needs both.
    init(of item: ProtectedItem, after passcode: VaultPasscode, countedBy lockouts: LockoutTable) {
        self.item = item
        self.passcode = passcode
        self.lockouts = lockouts
    }

    /// Each item has a lockout of its own.
    var lockout: LockoutKeeper? { lockouts.keeper(ofItem: item.id, in: item.collection) }

    /// Always set: no item with such a policy is stored without one.
    var isSet: Bool { true }

    func verify(_ password: consuming SecureBytes) async -> PasswordResult {
        do throws(VaultError) {
            key = try await item.collection.itemKey(
                of: item.id,
                passcode: passcode.key,
                applicationPassword: password
            )
            return .right
        } catch {
            return PasswordResult(error)
        }
    }
}

/// Verifies an application password that a program supplied, beside a passcode given before.
@BusActor
final class CredentialVerifier: PasswordVerifier {
    private let item: ProtectedItem
    private let passcode: PasscodeKey?
    private(set) var key: ItemKey?

    init(of item: ProtectedItem, passcode: PasscodeKey?) {
        self.item = item
        self.passcode = passcode
    }

    let isSet = true

    func verify(_ password: consuming SecureBytes) async -> PasswordResult {
        do throws(VaultError) {
            key = try await item.collection.itemKey(of: item.id, passcode: passcode, applicationPassword: password)
            return .right
        } catch {
            return PasswordResult(error)
        }
    }
}
