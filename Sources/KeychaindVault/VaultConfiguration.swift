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

/// The limits of a vault, so that no caller can fill it.
package struct VaultLimits: Equatable, Sendable {
    package var secretBytes = 16 * 1024 * 1024

    package var contentTypeBytes = 4096

    package var labelBytes = 64 * 1024

    /// The most bytes of an item's attributes, terminators included.
    package var attributeBytes = 256 * 1024

    package var attributes = 4096

    /// The most items in a collection: the object paths of all fit into one D-Bus array.
    package var items = 400_000

    /// The most items of a sandboxed program in a collection.
    package var sandboxItems = 10_000

    /// The most bytes of their labels, attributes and sealed secrets.
    package var sandboxBytes = 64 * 1024 * 1024

    package var collections = 256

    /// The most aliases of a collection: those of one leave room for those of others.
    package static let aliasesPerCollection = 64

    /// The most bytes of the collection in memory: sealed secrets, labels and attributes.
    package var memoryBytes = 64 * 1024 * 1024

    /// The most bytes of a copy of a collection's file, when it is made and when it is read back.
    package var copyBytes: Int64 = 1 << 30

    package var passwordBytes = 64 * 1024

    /// The bytes of locked memory that an unlock leaves free for sessions, passwords and grants.
    package var keyReserveBytes = 64 * 1024

    /// The largest secret whose sealed form stays in memory, in bytes; larger ones are read on demand.
    package var residentSecretBytes = 4096

    package init() {}

    func check(label: String) throws(VaultError) {
        guard label.utf8.count <= labelBytes else {
            throw VaultError(.limitExceeded, reason: "a label has at most \(labelBytes) bytes")
        }
    }

    func check(_ attributes: Attributes) throws(VaultError) {
        guard attributes.packed.count <= attributeBytes else {
            throw VaultError(.limitExceeded, reason: "attributes have at most \(attributeBytes) bytes")
        }
        guard attributes.count <= self.attributes else {
            throw VaultError(.limitExceeded, reason: "an item has at most \(self.attributes) attributes")
        }
    }

    func check(_ secret: borrowing Secret) throws(VaultError) {
        guard secret.bytes.count <= secretBytes else {
            throw VaultError(.limitExceeded, reason: "a secret has at most \(secretBytes) bytes")
        }
        guard secret.contentType.utf8.count <= contentTypeBytes else {
            throw VaultError(.limitExceeded, reason: "a content type has at most \(contentTypeBytes) bytes")
        }
    }

    /// Throws for a copy of a collection's file that could not be read back.
    func check(copyBytes count: Int) throws(VaultError) {
        guard count <= copyBytes else {
            throw VaultError(
                .limitExceeded,
                reason: "a copy would have \(count >> 20) MiB, and at most \(copyBytes >> 20) MiB can be read back"
            )
        }
    }

    /// Throws when locked memory is too short for the keys of another collection.
    func checkKeyMemory() throws(VaultError) {
        guard Gcrypt.hasLockedMemory(bytes: keyReserveBytes) else {
            throw VaultError(
                .limitExceeded,
                reason: "so many collections are unlocked that the memory for keys is used up"
            )
        }
    }

    func check(password: borrowing SecureBytes) throws(VaultError) {
        guard !password.isEmpty else {
            throw VaultError(.emptyPassword, reason: "an empty password protects nothing")
        }
        guard password.count <= passwordBytes else {
            throw VaultError(.limitExceeded, reason: "the password is too long")
        }
    }
}
