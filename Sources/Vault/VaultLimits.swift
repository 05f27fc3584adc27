import Gcrypt
import KeychainModel

/// How much the vault takes, so that no caller can fill it with one request.
package struct VaultLimits: Equatable, Sendable {
    /// The longest secret, in bytes.
    package var secretBytes = 16 * 1024 * 1024

    /// The longest content type of a secret, in bytes.
    package var contentTypeBytes = 4096

    /// The longest label of an item or of a collection, in bytes.
    package var labelBytes = 64 * 1024

    /// The most bytes that the attributes of an item take, terminators included.
    package var attributeBytes = 256 * 1024

    /// The most attributes of an item.
    package var attributes = 4096

    /// The most items in a collection: the paths of all fit into one D-Bus array, however long its name is.
    package var items = 400_000

    /// The most collections.
    package var collections = 256

    /// The most bytes that the items of a collection in memory take, sealed secrets, labels and attributes together.
    package var memoryBytes = 64 * 1024 * 1024

    /// The longest password, in bytes.
    package var passwordBytes = 64 * 1024

    /// How much of the memory for keys an unlock leaves free, in bytes: for the sessions, passwords and grants of all callers.
    package var keyReserveBytes = 64 * 1024

    /// The largest sealed secret that stays in memory, in bytes of plaintext; longer ones are read when they are asked for.
    package var residentSecretBytes = 4096

    /// Creates the limits that the daemon uses.
    package init() {}

    /// Throws when a label is too long.
    func check(label: String) throws(VaultError) {
        guard label.utf8.count <= labelBytes else {
            throw VaultError(.limitExceeded, reason: "a label has at most \(labelBytes) bytes")
        }
    }

    /// Throws when attributes are too many or too long.
    func check(_ attributes: Attributes) throws(VaultError) {
        guard attributes.packed.count <= attributeBytes else {
            throw VaultError(.limitExceeded, reason: "attributes have at most \(attributeBytes) bytes")
        }
        guard attributes.count <= self.attributes else {
            throw VaultError(.limitExceeded, reason: "an item has at most \(self.attributes) attributes")
        }
    }

    /// Throws when a secret or its content type is too long.
    func check(_ secret: borrowing Secret) throws(VaultError) {
        guard secret.bytes.count <= secretBytes else {
            throw VaultError(.limitExceeded, reason: "a secret has at most \(secretBytes) bytes")
        }
        guard secret.contentType.utf8.count <= contentTypeBytes else {
            throw VaultError(.limitExceeded, reason: "a content type has at most \(contentTypeBytes) bytes")
        }
    }

    /// Throws when the keys of one more collection would leave too little memory for others.
    func checkKeyMemory() throws(VaultError) {
        guard Gcrypt.hasLockedMemory(bytes: keyReserveBytes) else {
            throw VaultError(
                .limitExceeded,
                reason: "so many collections are unlocked that the memory for keys is used up"
            )
        }
    }

    /// Throws when a password is empty or too long.
    func check(password: borrowing SecureBytes) throws(VaultError) {
        guard !password.isEmpty else {
            throw VaultError(.emptyPassword, reason: "an empty password protects nothing")
        }
        guard password.count <= passwordBytes else {
            throw VaultError(.limitExceeded, reason: "the password is too long")
        }
    }
}
