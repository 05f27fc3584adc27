package import KeychaindAuthentication
package import KeychaindDBus
import KeychaindModel
package import KeychaindVault
package import Logging

/// Counts of failed attempts: two for the passcode, of people and of programs, and one for each other password.
///
/// Past a limit, the lowest count without a delay is dropped, and new ones start at the highest that was dropped.
/// Otherwise a program could drop the count of a password by wrong ones for its own. If each has a delay, new passwords
/// share one count, which a right one does not clear.
@BusActor
package final class LockoutTable {
    /// Maximum number of passwords, beside the passcode, with a count of their own.
    package static let limit = 1024

    /// Wrong passcodes and fingerprints of people.
    let people: LockoutKeeper

    /// Wrong passcodes supplied by programs, which must not delay people.
    let programs: LockoutKeeper

    /// Wrong passwords that share a count: with too many records, or for a copy of a keychain that is gone.
    let others: LockoutKeeper

    private let limit: Int
    private let vault: Vault
    private let clock: BootClock
    private let logger: Logger
    private var keepers: [LockoutOwner: LockoutKeeper] = [:]

    package init(_ vault: Vault, clock: BootClock, logger: Logger, limit: Int = LockoutTable.limit) {
        self.limit = limit
        self.vault = vault
        self.clock = clock
        self.logger = logger
        let store = { owner in VaultLockoutStore(vault, of: owner, logger: logger) }
        people = LockoutKeeper(store: store(.people), clock: clock)
        programs = LockoutKeeper(store: store(.programs), clock: clock)
        others = LockoutKeeper(store: store(.others), clock: clock, isShared: true)
    }

    /// The count for the password of a collection; nil while it has none.
    package func keeper(of collection: Collection, for party: LockoutParty) -> LockoutKeeper? {
        collection.lockoutOwner(party).map { keeper(of: $0, in: collection) }
    }

    /// The lockouts of a collection password for people and for programs.
    func lockout(of collection: Collection) -> PasswordLockout {
        PasswordLockout { [self] source in keeper(of: collection, from: source) }
    }

    /// The count for an attempt on the password of a collection; nil while it has none.
    func keeper(of collection: Collection, from source: PasswordLockout.Source) -> LockoutKeeper? {
        switch source {
        case .person: keeper(of: collection, for: .people)
        case .program: keeper(of: collection, for: .programs)
        }
    }

    /// The count for the application password of an item.
    func keeper(ofItem id: ItemID, in collection: Collection) -> LockoutKeeper {
        keeper(of: collection.lockoutOwner(of: id), in: collection)
    }

    /// Lets the counts be read again, once the disk can be read; those that have changed since are newer.
    func readAgain() {
        for keeper in [people, programs, others] + keepers.values { keeper.readAgain() }
    }

    func forget(_ id: ItemID, in collection: Collection) {
        remove(collection.lockoutOwner(of: id))
    }

    func forget(_ collection: Collection) {
        for owner in keepers.keys where owner.isOf(collection) { remove(owner) }
    }

    private func keeper(of owner: LockoutOwner, in collection: Collection) -> LockoutKeeper {
        switch owner {
        case .people: return people
        case .programs: return programs
        case .others: return others
        case .collection, .item, .dropped: break
        }
        if let keeper = keepers[owner] { return keeper }
        let owners = owners
        guard owners.contains(owner) || owners.count < limit || makeRoom(among: owners) else {
            return others
        }
        // A collection in memory ends with the process, and so does its count.
        let store: any LockoutStore =
            collection.isEphemeral ? NoLockoutStore() : VaultLockoutStore(vault, of: owner, logger: logger)
        let keeper = LockoutKeeper(store: store, clock: clock, startingAt: highestDropped(of: owner.party))
        keepers[owner] = keeper
        return keeper
    }

    /// Owners of a count, in memory or on disk.
    private var owners: Set<LockoutOwner> {
        Set(keepers.keys).union(vault.lockoutOwners)
    }

    /// Drops the lowest count without a delay; false if there is none.
    private func makeRoom(among owners: Set<LockoutOwner>) -> Bool {
        let now = clock.now
        var least: (owner: LockoutOwner, failures: UInt32)?
        for owner in owners where keepers[owner].map({ $0.attempts == 0 }) ?? true {
            let lockout = keepers[owner]?.known ?? Lockout(vault.lockoutRecord(of: owner), clock: clock)
            guard lockout.passcodeDelay(at: now) == .zero else { continue }
            let failures = lockout.record.passcodeFailures
            if failures < least?.failures ?? .max { least = (owner, failures) }
        }
        guard let least else { return false }
        drop(least.owner, countOf: least.failures)
        return true
    }

    private func drop(_ owner: LockoutOwner, countOf failures: UInt32) {
        guard failures > highestDropped(of: owner.party) else { return remove(owner) }
        keepers[owner] = nil
        let record = LockoutRecord(passcodeFailures: failures)
        vault.replaceLockouts(of: [owner], with: record.packed, of: .dropped(owner.party))
    }

    private func highestDropped(of party: LockoutParty) -> UInt32 {
        vault.lockoutRecord(of: .dropped(party))?.passcodeFailures ?? 0
    }

    private func remove(_ owner: LockoutOwner) {
        keepers[owner] = nil
        vault.removeLockouts(of: [owner])
    }
}
