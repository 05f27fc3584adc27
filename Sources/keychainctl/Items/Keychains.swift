import KeychaindCommandLine
import KeychaindLanguage
import SecretServiceClient

/// Keychains by their labels, which need not be unique.
enum Keychains {
    /// The one keychain with a label; without one, that of an alias.
    ///
    /// Throws ``ExitStatus/notFound`` or ``ExitStatus/ambiguous``.
    static func one(
        _ client: SecretClient,
        labeled label: String?,
        alias: String = "default"
    ) async throws -> SecretCollection {
        guard let label else {
            guard let collection = try await client.storingCollection(alias: alias) else {
                throw CommandFailure(.notFound, "there is no \(alias) keychain; name one with --keychain")
            }
            return collection
        }
        let labels = try await ItemFinder(client: client).keychainLabels()
        let paths = try paths(labeled: label, in: labels)
        guard paths.count == 1 else { throw ambiguous(label, paths) }
        return try client.collection(at: paths[0])
    }

    /// The failure of a command that cannot know which of several keychains is meant.
    static func ambiguous(_ label: String, _ paths: [String]) -> CommandFailure {
        let list = paths.map(\.visible).joined(separator: ", ")
        return CommandFailure(.ambiguous, "\(paths.count) keychains are called “\(label.visible)”: \(list)")
    }

    /// The keychains with these labels; all without labels.
    static func several(_ client: SecretClient, labeled labels: [String]) async throws -> [SecretCollection] {
        guard !labels.isEmpty else { return try await client.collections() }
        var collections: [SecretCollection] = []
        for label in labels { collections.append(try await one(client, labeled: label)) }
        return collections
    }

    /// The paths of the keychains with a label, or whose path ends in it; all without a label.
    static func paths(labeled label: String?, in labels: [String: String]) throws(CommandFailure) -> [String] {
        guard let label else { return labels.keys.sorted() }
        let labeled = labels.filter { $0.value == label }.keys.sorted()
        guard labeled.isEmpty else { return labeled }
        let named = labels.keys.filter { path in path == label || path.hasSuffix("/" + label) }.sorted()
        guard !named.isEmpty else { throw CommandFailure(.notFound, "there is no keychain “\(label.visible)”") }
        return named
    }
}
