import KeychainModel
import Logging

extension Collection {
    /// Has a copy of the file made, on a thread of its own, before the first change of a day.
    ///
    /// So a program that overwrites what it should not have finds the state before in the newest generation. A damaged file is
    /// not copied: it would push out a generation that is whole. A copy that fails is no reason to refuse the change.
    func keepGeneration() async {
        let configuration = context.configuration
        guard configuration.generations > 0, problems.isEmpty, table.count > 0, case .file = storage else { return }
        let now = configuration.now()
        if let lastGeneration {
            let age = now.microsecondsSinceEpoch - lastGeneration.microsecondsSinceEpoch
            if age >= 0, age / 1_000_000 < Generations.interval { return }
        }
        lastGeneration = now
        let generations = Generations(of: name, in: context.folder, keeping: configuration.generations)
        do throws(VaultError) {
            try await context.keeper.perform { (_) throws(VaultError) in try generations.keep(at: now) }
        } catch {
            configuration.logger.warning("\(name): no past generation was kept: \(error)")
        }
    }

    /// Takes items that a change protects out of the past generations, where they can be read without what is asked for from now on.
    ///
    /// When this returns, the disk has it.
    func withdrawFromGenerations(_ change: CollectionChange) async throws(VaultError) {
        var protections: [ItemID: ItemProtection] = [:]
        for case .update(let row, _) in change.rows {
            let new = ItemProtection(of: row.metadata.attributes)
            let old = table.protection(of: row.id)
            guard new.needsAuthentication, !old.needsAuthentication || new.keyAlternatives != old.keyAlternatives else {
                continue
            }
            protections[row.id] = new
        }
        guard !protections.isEmpty, let keys else { return }
        let generations = Generations(of: name, in: context.folder, keeping: context.configuration.generations)
        let configuration = context.configuration
        try await context.keeper.perform { [protections] (_) throws(VaultError) in
            try generations.withdraw(protections, keys: keys, configuration: configuration)
        }
    }
}
