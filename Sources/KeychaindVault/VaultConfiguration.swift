package import KeychaindGcrypt
package import KeychaindLog
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

    /// The number of days whose last state stays in a collection's file, and of past files; zero for none.
    package var generations: Int

    /// The milliseconds without a change before a file is rewritten without what is past.
    package var idleMilliseconds = 250

    /// The system calls on files; tests replace some of them.
    package var system = LogSystem()

    package var logLimits = LogLimits()

    package var logger: Logger

    package init(
        directory: String,
        keyDerivation: Argon2id = VaultConfiguration.recommendedKeyDerivation,
        limits: VaultLimits = VaultLimits(),
        generations: Int = 3,
        logger: Logger,
        now: @escaping @Sendable () -> Timestamp = { Timestamp.now() }
    ) {
        self.directory = directory
        self.keyDerivation = keyDerivation
        self.limits = limits
        self.generations = generations
        self.logger = logger
        self.now = now
    }
}
