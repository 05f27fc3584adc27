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
}
