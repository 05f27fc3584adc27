package import KeychaindGcrypt
package import KeychaindModel
package import Logging

package struct VaultConfiguration: Sendable {
    /// The cost of new password slots: RFC 9106's second recommendation, in one lane.
    package static let recommendedKeyDerivation = Argon2id(memoryKiB: 64 * 1024, iterations: 3, lanes: 1).forNewKeys

    package var directory: String

    /// The cost of a new password slot; an existing slot stores its own.
    package var keyDerivation: Argon2id

    package var now: @Sendable () -> Timestamp

    package var limits: VaultLimits

    /// The number of generations to keep per collection; zero for none.
    package var generations: Int

    /// The most pages of 4 KiB in a collection's file, for tests of a full disk; nil for SQLite's limit.
    package var maximumPages: Int?

    /// The milliseconds without a change before the journal is moved into a collection's file.
    package var idleMilliseconds = 250

    package var logger: Logger

    package init(
        directory: String,
        keyDerivation: Argon2id = VaultConfiguration.recommendedKeyDerivation,
        limits: VaultLimits = VaultLimits(),
        generations: Int = 3,
        maximumPages: Int? = nil,
        logger: Logger,
        now: @escaping @Sendable () -> Timestamp = { Timestamp.now() }
    ) {
        self.directory = directory
        self.keyDerivation = keyDerivation
        self.limits = limits
        self.generations = generations
        self.maximumPages = maximumPages
        self.logger = logger
        self.now = now
    }
}
