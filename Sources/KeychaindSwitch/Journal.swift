import FoundationEssentials
package import KeychaindCommandLine
package import KeychaindFiles
import KeychaindLanguage

/// What was there before the switch, on disk before the first change.
package struct Journal: Hashable, Codable, Sendable {
    static let currentVersion = 1

    package struct Entry: Hashable, Codable, Sendable {
        package let path: String
        package private(set) var was: FileState
        /// Nil while a command that changes the file is running.
        package var becomes: FileState?
        package var settings: [KeyFile.Setting]

        /// Takes what somebody else has put at the path since as the state to restore, without the switch's own keys.
        ///
        /// A path that names nothing any more keeps its former state.
        ///
        /// - Parameter renewed: the keys that are set again; they are undone to their present values.
        mutating func takeChange(to present: FileState, renewing renewed: [KeyFile.Setting]) {
            guard let becomes, present != .absent, !present.matches(becomes), !present.matches(was) else { return }
            if case .file(var content) = present, !settings.isEmpty {
                var file = KeyFile(content.bytes)
                for setting in settings { file.undo(setting) }
                content.bytes = file.bytes
                was = .file(content)
            } else {
                was = present
            }
            let keys = Set(renewed.map { [$0.group, $0.key] })
            settings.removeAll { keys.contains([$0.group, $0.key]) }
        }
    }

    private(set) var version = currentVersion
    /// False from the first change to the last one, and again while they are undone.
    package var isComplete = false
    package var entries: [Entry] = []
    package var commands: [Plan.Command] = []
    /// The folders that the switch creates, the outermost first.
    package var folders: [String] = []

    /// Reads the journal of an account; nil if the account is not switched.
    package init?(of account: SwitchAccount) throws(CommandFailure) {
        let path = account.journalPath
        switch try account.tree.state(of: path) {
        case .absent:
            return nil
        case .file(let content):
            guard let journal = try? JSONDecoder().decode(Journal.self, from: Data(content.bytes)),
                journal.version == Journal.currentVersion, journal.isPlausible
            else {
                throw CommandFailure(
                    .badData,
                    "\(path.visible) is not readable; put it aside and undo the switch by hand (docs/migrating.md)"
                )
            }
            self = journal
        case .link, .other:
            throw CommandFailure(.refused, "\(path.visible) is not a file of this user")
        }
    }

    init() {}

    /// Whether all paths are absolute and lead nowhere else.
    private var isPlausible: Bool {
        (entries.map(\.path) + folders).allSatisfy { path in
            path.hasPrefix("/") && !path.split(separator: "/").contains("..") && !path.utf8.contains(0)
        }
    }

    func save(for account: SwitchAccount) throws(CommandFailure) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(self), data.count <= FileContent.limit else {
            throw CommandFailure(.failure, "there is too much to note down before the switch")
        }
        try account.tree.put(.file(FileContent(bytes: Array(data), mode: 0o600)), at: account.journalPath)
    }
}
