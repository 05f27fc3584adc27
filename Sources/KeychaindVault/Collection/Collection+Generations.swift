import KeychaindModel
import Logging

extension Collection {
    /// Copies the file before the first change of a day, so that a program's mistake can be undone.
    ///
    /// A damaged file is not copied: it would push out an intact generation. A failed copy does not stop the change.
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
            let keys = checkKeys
            let isNew = try await read(on: context.copyWorker) { () throws(VaultError) in
                try generations.keep(at: now, within: configuration.limits, checkedWith: keys)
            }
            if isNew { noteCopy() }
        } catch {
            configuration.logger.warning("\(name): could not copy the file to a generation: \(error)")
            noteCopy(failure: error)
            // Not soon again: the copying takes long, and the change waits for it.
            if error.code == .limitExceeded { return }
            let early = (Generations.interval - Generations.pause) * 1_000_000
            lastGeneration = Timestamp(microsecondsSinceEpoch: now.microsecondsSinceEpoch - early)
            if error.code == .unreadable, foundDamage == nil { await lookForDamage() }
        }
    }

    /// Makes known that copies of the file are too large, or that one was made again.
    func noteCopy(failure: VaultError? = nil) {
        switch failure?.code {
        case nil: copyObstacle = nil
        case .limitExceeded?: copyObstacle = failure.map { "no new copies of it are made: \($0.reason)" }
        case .some: break
        }
    }

    /// Removes newly protected items from generations in which they need less authentication, durably.
    func removeFromGenerations(_ change: CollectionChange) async throws(VaultError) {
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
        try await context.copyWorker.perform { [protections] (_) throws(VaultError) in
            try generations.removeUnprotected(protections, keys: keys, configuration: configuration)
        }
    }
}
