import Authentication
import DBus
import Logging
import Vault

/// Keeps a record of failed attempts in the vault's state database.
@BusActor
final class VaultLockoutStore: LockoutStore {
    private let vault: Vault
    private let owner: LockoutOwner
    private let logger: Logger

    init(_ vault: Vault, of owner: LockoutOwner, logger: Logger) {
        self.vault = vault
        self.owner = owner
        self.logger = logger
    }

    func load() async -> LockoutRecord? {
        switch vault.lockout(of: owner) {
        case .none: nil
        case .record(let bytes): LockoutRecord(packed: bytes)
        case .unreadable: .unreadable
        }
    }

    func save(_ record: LockoutRecord) async {
        switch owner {
        // There is one of these for every password, so that what has not failed takes no room.
        case .collection, .item:
            if record.passcodeFailures == 0 { return vault.removeLockouts(of: [owner]) }
        case .people, .programs, .others: break
        }
        do throws(VaultError) {
            try await vault.setLockout(record.packed, of: owner)
        } catch {
            logger.error("A failed authentication could not be recorded", metadata: ["reason": "\(error)"])
        }
    }
}
