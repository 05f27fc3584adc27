import KeychainModel
import Logging

extension Collection {
    /// Has a copy of the file kept, on a thread of its own, when the last one is a day old and the file is known to be good.
    ///
    /// A damaged file is not copied: it would push out a generation that is whole.
    func keepGeneration() {
        let configuration = context.configuration
        guard configuration.generations > 0, problems.isEmpty, case .file = storage else { return }
        let now = configuration.now()
        if let lastGeneration {
            let age = now.microsecondsSinceEpoch - lastGeneration.microsecondsSinceEpoch
            if age >= 0, age / 1_000_000 < Generations.interval { return }
        }
        lastGeneration = now
        let name = self.name
        let generations = Generations(of: name, in: context.folder, keeping: configuration.generations)
        context.keeper.post { _ in
            do throws(VaultError) {
                try generations.keep(at: now)
            } catch {
                configuration.logger.warning("\(name): no past generation was kept: \(error)")
            }
        }
    }
}
