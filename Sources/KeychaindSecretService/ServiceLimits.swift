/// Limits of one client; beyond them, calls fail with `LimitsExceeded` (#48).
package struct ServiceLimits: Hashable, Sendable {
    /// How many times as many sessions, prompts, contexts and waiting calls all clients of one program may have.
    package var timesForProgram = 4

    /// Open sessions, of a quarter of a kilobyte each; past it, the one that was not used for the longest time ends.
    package var sessions = 8192

    /// Uncompleted prompts.
    package var prompts = 64

    /// Bytes kept by such prompts: items to store, one of the largest size, and object paths.
    package var bytesInPrompts = 17 << 20

    /// Authentication contexts.
    package var contexts = 64

    /// Calls that wait for a commit, a key derivation or a person.
    package var waitingCalls = 1024

    /// Bytes in the arguments of such calls, also for all clients of one program; one may hold a secret of the largest
    /// size.
    package var waitingBytes = 32 << 20

    /// Keys that wait to be generated.
    package var newKeys = 16

    /// Replies that wait for secrets from disk.
    package var largeAnswers = 256

    /// Bytes in a reply of GetSecrets; a D-Bus array has at most 64 MiB.
    package var secretBytesPerReply = 56 << 20

    /// Bytes of paths in a reply of SearchItems, for the same reason.
    package var pathBytesPerReply = 48 << 20

    /// Bytes of attributes and labels in a reply of Search1.
    package var itemBytesPerReply = 8 << 20

    /// Alternatives in one search of Search1.
    package var queriesPerCall = 8

    /// Objects in one call.
    package var objectsPerCall = 100_000

    /// Items in one deletion of several, whose signals are sent at once.
    package var deletionsPerCall = 128

    /// Properties of a new object in one call.
    package static let propertiesPerCall = 1024

    /// Imported portal secrets, which no program can delete.
    package var portalSecrets = 1_000

    /// Bytes in an alias.
    package var aliasBytes = 100

    /// Wait of a call for the vault and its keys, and of a dismissed prompt for its action; below the 25 s timeout of
    /// libdbus.
    package var settlingTime = Duration.seconds(20)

    /// The longest look at the program behind a connection, before the client sees only its own items.
    package var lookTime = Duration.seconds(2)

    /// Items up to which a change signal carries the whole list at once; see ``ChangeNotifier``.
    package var itemsPerNotice = 32

    /// Hits of a client's last search whose unlocking is signalled before the end of its prompt.
    package var awaitedItems = 1_000

    /// Items whose reads wait for a prompt.
    package var readPrompts = 16

    /// The longest wait of a read for its prompt.
    package var readPromptTime = Duration.seconds(120)

    /// Time without prompts for reads after a person has refused one.
    package var readPromptPause = Duration.seconds(30)

    package init() {}
}
