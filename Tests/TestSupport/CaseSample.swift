import Foundation
import KeychaindDBus

/// What a run of tests has of the cases that are too many for it.
///
/// `SEED` chooses, which `scripts/test` sets and prints. With `EVERY=1`, as in `make proof PROOF=matrices`, all remain.
package enum CaseSample {
    private static let environment = ProcessInfo.processInfo.environment

    package static let seed = environment["SEED"].flatMap(UInt64.init) ?? .random(in: 0 ... .max)

    /// Returns how many of so many cases run: one in `count`.
    package static func size(of all: Int, oneIn count: Int) -> Int {
        max(1, all / (environment["EVERY"].flatMap(Int.init) ?? count))
    }
}

extension Sequence {
    /// Some of the cases of a test, in their order: one in so many.
    package func sample(oneIn count: Int) -> [Element] {
        let all = Array(self)
        var generator = SeededGenerator(seed: CaseSample.seed)
        let chosen = Set(all.indices.shuffled(using: &generator).prefix(CaseSample.size(of: all.count, oneIn: count)))
        return all.indices.filter(chosen.contains).map { index in all[index] }
    }
}
