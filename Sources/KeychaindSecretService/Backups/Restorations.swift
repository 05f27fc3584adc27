import Glibc
import KeychaindAuthentication
import KeychaindDBus
import KeychaindVault
import Logging

/// The backups being restored; their number is limited, because each is a copy on the disk.
@BusActor
final class Restorations {
    /// The most backups at a time, of all clients together.
    static let limit = 2

    let vault: Vault
    let unlocker: Unlocker
    let logger: Logger

    /// The lockout for passwords of all backups; not stored, since a file can be attacked elsewhere, too.
    let lockout = LockoutKeeper(store: NoLockoutStore())

    private struct Staged {
        weak var backup: StagedBackup?
    }

    private var staged: [Staged] = []
    private var copying = 0

    init(vault: Vault, unlocker: Unlocker, logger: Logger) {
        self.vault = vault
        self.unlocker = unlocker
        self.logger = logger
    }

    /// Copies a file that the caller has opened.
    func stage(_ file: FileDescriptor) async throws(BusError) -> StagedBackup {
        staged.removeAll { entry in entry.backup == nil }
        guard staged.count + copying < Self.limit else {
            throw BusError(.limitsExceeded, "\(Self.limit) keychains are being restored already")
        }
        let descriptor = fcntl(file.rawValue, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { throw BusError(.limitsExceeded, "the descriptor cannot be duplicated") }
        copying += 1
        defer { copying -= 1 }
        do throws(VaultError) {
            let backup = try await vault.stage(OpenedFile(owning: descriptor))
            staged.append(Staged(backup: backup))
            return backup
        } catch  where error.code == .unreadable || error.code == .unsupportedFormat {
            throw BusError(.invalidArguments, "the file cannot be restored: \(error.reason)")
        } catch {
            throw BusError(error)
        }
    }
}
