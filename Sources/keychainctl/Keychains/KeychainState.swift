import KeychaindCommandLine
import KeychaindLanguage
import SecretServiceClient

/// A keychain as `collection list` and `status` show it.
struct KeychainState: Sendable {
    let path: String
    let label: String
    let isLocked: Bool
    let itemCount: Int
    let isDefault: Bool
    let modified: UInt64
    /// The kind of key slot that opened it; empty if it is locked or the provider does not say.
    let unlockedBy: String
    /// The fault of its file; empty without one.
    let problem: String

    static func all(_ client: SecretClient) async throws -> [KeychainState] {
        let chosen = try await client.defaultCollection()?.path
        var states: [KeychainState] = []
        for collection in try await client.collections() {
            guard let state = try await state(of: collection, isDefault: collection.path == chosen) else { continue }
            states.append(state)
        }
        return states
    }

    /// Nil if the keychain was deleted meanwhile.
    private static func state(
        of collection: SecretCollection,
        isDefault: Bool
    ) async throws(SecretServiceError) -> KeychainState? {
        do throws(SecretServiceError) {
            let properties = try await collection.properties()
            let own = try await collection.keychaindState()
            return KeychainState(
                path: collection.path,
                label: properties.label,
                isLocked: properties.isLocked,
                itemCount: try await collection.items().count,
                isDefault: isDefault,
                modified: properties.modified,
                unlockedBy: own?.unlockedBy ?? "",
                problem: own?.problem ?? ""
            )
        } catch {
            guard error.code == .noSuchObject else { throw error }
            return nil
        }
    }

    static let titles = [Text("KEYCHAIN"), Text("STATE"), Text("ITEMS"), Text("FOR NEW ITEMS")]

    var row: [String] { [label.visible, state.cell, "\(itemCount)", isDefault ? Text("yes").cell : ""] }

    /// In words.
    var state: Text {
        if !problem.isEmpty { return Text("problem: \(problem.visible)") }
        if isLocked { return Text("locked", context: "a keychain or an item") }
        return switch unlockedBy {
        case "password": Text("opened by its password")
        case "recovery-key": Text("opened by a recovery key")
        case "host": Text("opened by this computer")
        case "security-key": Text("opened by a security key")
        case "login": Text("opened by the login keychain")
        default: Text("open", context: "a keychain or an item")
        }
    }

    var json: String {
        "\"label\": \(JSON.string(label)), \"path\": \(JSON.string(path)), \"locked\": \(isLocked), "
            + "\"items\": \(itemCount), \"default\": \(isDefault), \"modified\": \(modified), "
            + "\"unlocked-by\": \(JSON.string(unlockedBy)), \"problem\": \(JSON.string(problem))"
    }
}
