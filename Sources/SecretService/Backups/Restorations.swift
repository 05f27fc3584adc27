import Authentication
import DBus
import Glibc
import Vault

/// The backups that are being restored: few at a time, for each takes room on the disk.
@BusActor
final class Restorations {
    /// How many there may be at a time, of all callers.
    nonisolated static let limit = 2

    /// Counts wrong passwords of backups, whichever they are of.
    let lockout = LockoutKeeper(store: ForgetfulLockoutStore())

    private struct Staged {
        weak var backup: StagedBackup?
    }

    private var staged: [Staged] = []
    private var copying = 0

    /// Copies a file that a caller has opened.
    func stage(_ file: FileDescriptor, in vault: Vault) async throws(BusError) -> StagedBackup {
        staged.removeAll { entry in entry.backup == nil }
        guard staged.count + copying < Self.limit else {
            throw BusError(.limitsExceeded, "\(Self.limit) keychains are being restored already")
        }
        let descriptor = fcntl(file.rawValue, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { throw BusError(.limitsExceeded, "the descriptor cannot be taken") }
        copying += 1
        defer { copying -= 1 }
        do throws(VaultError) {
            let backup = try await vault.stage(OpenedFile(owning: descriptor))
            staged.append(Staged(backup: backup))
            return backup
        } catch  where error.code == .unreadable || error.code == .unsupportedFormat {
            throw BusError(.invalidArguments, "it cannot be restored: \(error.reason)")
        } catch {
            throw BusError(error)
        }
    }
}

/// Remembers failed attempts as long as the daemon runs: a file that somebody has can be tried elsewhere, too.
private final class ForgetfulLockoutStore: LockoutStore {
    func load() async -> LockoutRecord? { nil }

    func save(_ record: LockoutRecord) async {}
}
