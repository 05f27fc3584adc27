import Authentication
import DBus
import Gcrypt
import Vault

/// The password of an item's own, verified by opening the item's key.
@BusActor
final class ApplicationPassword: Passcode {
    private let item: ProtectedItem
    private let passcode: VaultPasscode
    private let lockouts: LockoutTable
    private(set) var key: ItemKey?

    /// - Parameter passcode: has been verified before, if the item's policy asks for both.
    init(of item: ProtectedItem, after passcode: VaultPasscode, countedBy lockouts: LockoutTable) {
        self.item = item
        self.passcode = passcode
        self.lockouts = lockouts
    }

    /// Each item has a count of its own.
    var lockout: LockoutKeeper? { lockouts.keeper(ofItem: item.id, in: item.collection) }

    /// An item whose policy asks for one was stored with one.
    var isSet: Bool { true }

    func verify(_ password: consuming SecureBytes) async -> PasscodeOutcome {
        do throws(VaultError) {
            key = try await item.collection.itemKey(
                of: item.id,
                passcode: passcode.key,
                applicationPassword: password
            )
            return .right
        } catch  where error.code == .wrongApplicationPassword || error.code == .emptyPassword {
            return .wrong
        } catch {
            return .failed(reason: error.reason)
        }
    }
}
