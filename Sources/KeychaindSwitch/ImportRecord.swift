import FoundationEssentials
import KeychaindCommandLine
package import KeychaindLanguage

/// The report of one finished import, in `$XDG_STATE_HOME/keychaind/imports/SECONDS-SOURCE.json`.
package struct ImportRecord: Hashable, Codable, Sendable {
    static let currentVersion = 1
    /// The reason of an item that differs and stays behind because the person decided so.
    static let keptReason = "keychaind's own was kept"
    /// Of items that stayed behind: the report has all.
    private static let mostNames = 3

    package struct LeftItem: Hashable, Codable, Sendable {
        let label: String
        let reason: String
    }

    package let version: Int
    /// Such as `gnome-keyring`.
    package let source: String
    /// In seconds since 1970.
    package let finished: Int
    /// The number of items that the source had.
    package let items: Int
    package let copied: Int
    /// The number of items that keychaind had already.
    package let same: Int
    package let left: Int
    package let leftItems: [LeftItem]?
    /// The keychains of the source that could not be opened.
    package let skippedKeychains: [String]?

    /// Why a switch would lose items of a provider that now has this number; nil if it loses none.
    ///
    /// - Parameter count: nil if the provider does not run.
    package func gap(items count: Int?) -> Text? {
        let lostItems = (leftItems ?? []).filter { $0.reason != ImportRecord.keptReason }
        let lost = left - (leftItems?.count ?? 0) + lostItems.count
        if lost > 0 {
            let names = lostItems.prefix(ImportRecord.mostNames).map { Text(verbatim: "“\($0.label.visible)”") }
            let loss = Text(
                lost,
                one: "\(lost) item could not be imported",
                other: "\(lost) items could not be imported"
            )
            return Text.joined([loss, Text.list(names)], by: Text(verbatim: ": "))
        }
        if let skipped = skippedKeychains?.count, skipped > 0 {
            return Text(
                skipped,
                one: "\(skipped) keychain was not imported",
                other: "\(skipped) keychains were not imported"
            )
        }
        guard let count, count > items else { return nil }
        let newer = count - items
        return Text(
            newer,
            one: "\(newer) item is newer than the import",
            other: "\(newer) items are newer than the import"
        )
    }

    /// The newest record of an import from this source; nil if there is none.
    package static func newest(from source: String, in account: SwitchAccount) -> ImportRecord? {
        let folder = account.stateFolder + "/imports"
        return account.tree.names(in: folder).filter { $0.hasSuffix("-\(source).json") }
            .compactMap { name -> ImportRecord? in
                guard let bytes = account.tree.bytes(of: "\(folder)/\(name)") else { return nil }
                return try? JSONDecoder().decode(ImportRecord.self, from: Data(bytes))
            }
            // Any program of the user can write one.
            .filter { $0.version == currentVersion && $0.source == source && $0.items >= 0 }
            .max { $0.finished < $1.finished }
    }
}

/// A provider that may hold items which keychaind has not.
package struct ImportSource: Hashable, Sendable {
    /// The name that `keychainctl import` gives it, such as `gnome-keyring`.
    package let name: String
    /// The number of its items; nil if it does not run.
    package let items: Int?

    package init(program: String, items: Int) {
        name =
            switch program.lastComponent {
            // oo7 moves the keyrings of gnome-keyring, with which they are imported.
            case "gnome-keyring-daemon", "oo7-daemon": "gnome-keyring"
            case "kwalletd5", "kwalletd6", "ksecretd": "kwallet"
            case let other: other
            }
        self.items = items
    }

    private init(name: String) {
        self.name = name
        items = nil
    }

    /// The providers that have files in the account's data folder.
    package static func withFiles(in account: SwitchAccount) -> [ImportSource] {
        let kinds = [("gnome-keyring", ["keyrings", "keyrings/v1"], ".keyring"), ("kwallet", ["kwalletd"], ".kwl")]
        return kinds.filter { _, folders, suffix in
            folders.flatMap { account.tree.names(in: "\(account.dataFolder)/\($0)") }.contains { $0.hasSuffix(suffix) }
        }.map { ImportSource(name: $0.0) }
    }

    /// Why a switch would lose items; nil if it loses none.
    package func gap(in account: SwitchAccount) -> Text? {
        if items == 0 { return nil }
        guard let record = ImportRecord.newest(from: name, in: account) else {
            guard let items else { return Text("its items have not been imported") }
            return Text(
                items,
                one: "its \(items) item has not been imported",
                other: "its \(items) items have not been imported"
            )
        }
        return record.gap(items: items)
    }
}
