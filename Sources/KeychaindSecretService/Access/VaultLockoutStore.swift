import KeychaindAuthentication
import KeychaindDBus
import KeychaindVault
import Logging

/// Keeps a record of failed attempts in the state database of the vault.
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

    func load() async -> LockoutRecord? { vault.lockoutRecord(of: owner) }

    func save(_ record: LockoutRecord) async throws(LockoutObstacle) {
        switch owner {
        // Every password can have one, so a count of zero is removed.
        case .collection, .item:
            if record.passcodeFailures == 0 { return vault.removeLockouts(of: [owner]) }
        case .people, .programs, .others, .dropped: break
        }
        do throws(VaultError) {
            try await vault.setLockout(record.packed, of: owner)
        } catch {
            logger.error("Could not record a failed authentication", metadata: ["reason": "\(error)"])
            throw LockoutObstacle(error)
        }
    }
}

/// Keeps no record beyond the process.
@BusActor
final class NoLockoutStore: LockoutStore {
    func load() async -> LockoutRecord? { nil }

    func save(_ record: LockoutRecord) async throws(LockoutObstacle) {}
}

extension LockoutObstacle {
    fileprivate init(_ error: VaultError) {
        switch error.code {
        case .storageFull: self = .diskIsFull
        case .readOnly: self = .diskIsReadOnly
        default: self = .diskFails
        }
    }
}

extension Vault {
    /// The stored record of failed attempts; nil if there is none.
    func lockoutRecord(of owner: LockoutOwner) -> LockoutRecord? {
        switch lockout(of: owner) {
        case .none: nil
        case .record(let bytes): LockoutRecord(packed: bytes)
        case .unreadable: .unreadable
        }
    }
}
