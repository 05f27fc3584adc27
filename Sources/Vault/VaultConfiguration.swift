package import Gcrypt
package import KeychainModel
package import Logging

/// What a vault is made of: a folder, a clock, and the cost of a guess at a password.
package struct VaultConfiguration: Sendable {
    /// The cost of the password slots that this vault makes: RFC 9106's second recommendation, in one lane.
    package static let recommendedKeyDerivation = Argon2id(memoryKiB: 64 * 1024, iterations: 3, lanes: 1)

    /// The folder, which is made when it is missing.
    package var directory: String

    /// What a new password slot costs; an existing slot names its own parameters.
    package var keyDerivation: Argon2id

    /// The clock that stamps items and generations.
    package var now: @Sendable () -> Timestamp

    /// How much the vault takes.
    package var limits: VaultLimits

    /// How many past generations of a collection are kept; zero keeps none.
    package var generations: Int

    /// The most pages of 4 KiB that a collection's file may have; nil for SQLite's own limit.
    ///
    /// Tests fill a disk with it.
    package var maximumPages: Int?

    /// Where the vault says what went wrong without a caller to tell.
    package var logger: Logger

    /// Creates a configuration with the daemon's choices for all but the folder and the log.
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
