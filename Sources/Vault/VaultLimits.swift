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

    /// The most changes that wait for a collection's writer.
    package var waitingChanges = 4096

    /// The longest password, in bytes.
    package var passwordBytes = 64 * 1024

    /// The largest sealed secret that stays in memory, in bytes of plaintext; longer ones are read when they are asked for.
    package var residentSecretBytes = 4096

    /// Creates the limits that the daemon uses.
    package init() {}
}
