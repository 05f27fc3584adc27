/// What one caller may use at a time; past it, `LimitsExceeded` (#48).
package struct ServiceLimits: Hashable, Sendable {
    /// Open sessions of a connection.
    package var sessions = 512

    /// Prompts of a connection that are not completed.
    package var prompts = 64

    /// Bytes that such prompts keep: items that are to be stored, one of them of the largest size, and the names of objects.
    package var bytesInPrompts = 17 << 20

    /// Authentication contexts of a connection.
    package var contexts = 64

    /// Calls of a connection that wait for a commit, a key derivation or a person.
    package var waitingCalls = 1024

    /// Bytes of the arguments of such calls; one of them may have a secret of the largest size.
    package var waitingBytes = 32 << 20

    /// Answers of a connection that wait for secrets from the disk.
    package var largeAnswers = 256

    /// Bytes in the answer to one GetSecrets; a D-Bus array ends at 64 MiB.
    package var secretBytesPerReply = 56 << 20

    /// Bytes of paths in the answer to one SearchItems, for the same reason.
    package var pathBytesPerReply = 48 << 20

    /// Objects in one call: what takes more is read no further, for meanwhile nobody is answered.
    package var objectsPerCall = 100_000

    /// Properties of a new object in one call.
    package static let propertiesPerCall = 1024

    /// Bytes in the name of an alias.
    package var aliasBytes = 100

    /// How long a call waits for a key that is being derived; less than the 25 s after which libdbus gives up.
    package var settlingTime = Duration.seconds(20)

    /// Items up to which a change is told with the whole list at once; with more, see ``ChangeNotifier``.
    package var itemsPerNotice = 32

    package init() {}
}
