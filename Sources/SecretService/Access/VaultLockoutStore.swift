import Authentication
import DBus
import Logging
import Vault

/// Keeps the record of failed attempts in the vault's state database.
@BusActor
final class VaultLockoutStore: LockoutStore {
    private let vault: Vault
    private let logger: Logger

    init(_ vault: Vault, logger: Logger) {
        self.vault = vault
        self.logger = logger
    }

    func load() async -> LockoutRecord? {
        switch vault.lockout {
        case .none: nil
        case .record(let bytes): LockoutRecord(packed: bytes)
        case .unreadable: .unreadable
        }
    }

    func save(_ record: LockoutRecord) async {
        do throws(VaultError) {
            try await vault.setLockout(record.packed)
        } catch {
            logger.error("A failed authentication could not be recorded", metadata: ["reason": "\(error)"])
        }
    }
}
