/// What one caller may use at a time; past it, `LimitsExceeded` (#48).
package struct ServiceLimits: Hashable, Sendable {
    /// Open sessions of a connection.
    package var sessions = 512

    /// Prompts of a connection that are not completed.
    package var prompts = 64

    /// Bytes of secrets that wait in such prompts to be stored; one of the largest size.
    package var secretBytesInPrompts = 16 << 20

    /// Authentication contexts of a connection.
    package var contexts = 64

    /// Calls of a connection that wait for a commit, a key derivation or a person.
    package var waitingCalls = 1024

    /// Bytes in the answer to one GetSecrets; a D-Bus array ends at 64 MiB.
    package var secretBytesPerReply = 56 << 20

    /// Bytes of paths in the answer to one SearchItems, for the same reason.
    package var pathBytesPerReply = 48 << 20

    /// Objects in one Unlock, which a prompt keeps.
    package var objectsPerPrompt = 100_000

    /// Bytes in the name of an alias.
    package var aliasBytes = 100

    /// How long a call waits for a key that is being derived; less than the 25 s after which libdbus gives up.
    package var settlingTime = Duration.seconds(20)

    /// Items up to which a change is told with the whole list at once; with more, see ``ChangeNotifier``.
    package var itemsPerNotice = 32

    package init() {}
}
