import KeychaindGcrypt

/// A table of passwords that a browser or KeePassXC has exported.
package struct PasswordTable {
    /// The programs, by the columns that only they have.
    package enum Program: CaseIterable, Sendable {
        case chromium
        case firefox
        case keePassXC

        /// The columns of a table, in lower case; others may stand between and behind them.
        fileprivate var requiredColumns: [String] {
            switch self {
            case .chromium: ["name", "url", "username", "password"]
            case .firefox: ["url", "username", "password", "httprealm", "formactionorigin"]
            case .keePassXC: ["group", "title", "username", "password", "url", "notes"]
            }
        }
    }

    /// Returns the program that writes tables with these columns.
    static func program(columns: [String]) -> Program? {
        let columns = Set(columns.map { $0.lowercased() })
        return Program.allCases.last { columns.isSuperset(of: $0.requiredColumns) }
    }

    let program: Program
    let name: String

    package init(program: Program, name: String) {
        self.program = program
        self.name = name
    }

    package func read(
        _ reader: consuming CSVReader,
        _ summary: inout ForeignFileSummary,
        _ each: (consuming ForeignItem) throws -> Void
    ) throws {
        guard try reader.advance() else { return }
        var columns: [String: Int] = [:]
        for index in 0..<reader.fieldCount { columns[try reader.text(index).lowercased()] = index }
        let width = reader.fieldCount
        while try reader.advance() {
            guard reader.fieldCount == width else {
                summary.lose(
                    "it has \(reader.fieldCount) fields instead of \(width)",
                    of: "record \(reader.number)"
                )
                continue
            }
            try readRecord(reader, columns, &summary, each)
        }
    }

    private func readRecord(
        _ reader: borrowing CSVReader,
        _ columns: [String: Int],
        _ summary: inout ForeignFileSummary,
        _ each: (consuming ForeignItem) throws -> Void
    ) throws {
        var texts: [String: String] = [:]
        for column in textColumns { if let index = columns[column] { texts[column] = try reader.text(index) } }
        let login = login(texts)
        var isEmpty = true
        for (column, field) in [("password", "password"), ("note", "note"), ("notes", "note"), ("totp", "totp")] {
            guard let index = columns[column] else { continue }
            let secret = try reader.withField(index) { (bytes) throws(ForeignFileError) in
                try SecureBytes(secret: bytes)
            }
            guard !secret.isEmpty else { continue }
            isEmpty = false
            summary.countItem()
            try each(login.item(field, secret))
        }
        if isEmpty { summary.lose("it has no password", of: login.name) }
    }

    /// The columns that are not secret.
    private var textColumns: [String] {
        switch program {
        case .chromium: ["name", "url", "username"]
        case .firefox:
            ["url", "username", "httprealm", "formactionorigin", "guid", "timecreated", "timepasswordchanged"]
        case .keePassXC: ["group", "title", "username", "url", "last modified", "created"]
        }
    }

    private func login(_ texts: [String: String]) -> Login {
        var login = Login(keychain: name)
        let text = { texts[$0] ?? "" }
        login.url = text("url")
        login.attributes["username"] = text("username")
        switch program {
        case .chromium:
            login.label = text("name")
        case .firefox:
            login.label = text("url")
            login.attributes["realm"] = text("httprealm")
            login.attributes["form-action-origin"] = text("formactionorigin")
            login.attributes["guid"] = text("guid")
            login.created = UInt64(text("timecreated")).map { $0 / 1000 }
            login.modified = UInt64(text("timepasswordchanged")).map { $0 / 1000 }
        case .keePassXC:
            login.label = text("title")
            login.attributes["folder"] = text("group")
            login.created = secondsSince1970(text("created"))
            login.modified = secondsSince1970(text("last modified"))
        }
        return login
    }
}
