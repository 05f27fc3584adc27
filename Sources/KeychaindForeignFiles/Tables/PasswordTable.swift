import KeychaindGcrypt

/// A table of passwords, as browsers and password managers export them: its first record names the columns.
///
/// The columns are known by their names, whichever program wrote them. One with another name may be secret, so each of
/// its values becomes a secret of its own, and ``ForeignFileSummary/unknown`` names it.
package struct PasswordTable {
    /// What a column contains.
    private enum Column: Equatable {
        case label
        case url
        case attribute(String)
        case secret(String)
        case created(Time)
        case modified(Time)
        /// The column says nothing about a sign-in: an icon, or whether the program lists it first.
        case ignored
        case unknown(String)
    }

    /// The forms of times.
    private enum Time {
        case iso8601
        case seconds
        case milliseconds

        func read(_ text: String) -> UInt64? {
            switch self {
            case .iso8601: secondsSince1970(text)
            case .seconds: UInt64(text)
            case .milliseconds: UInt64(text).map { $0 / 1000 }
            }
        }
    }

    private static let password = Column.secret("password")

    /// The columns of Chromium, Firefox, KeePassXC, Apple's Passwords, 1Password, Bitwarden, Dashlane, LastPass and
    /// Proton Pass, in lower case.
    private static let known: [String: Column] = [
        "name": .label, "title": .label,
        "url": .url, "login_uri": .url,
        "username": .attribute("username"), "login_username": .attribute("username"),
        "username2": .attribute("username-2"), "username3": .attribute("username-3"), "email": .attribute("email"),
        "group": .attribute("folder"), "grouping": .attribute("folder"), "folder": .attribute("folder"),
        "category": .attribute("folder"), "vault": .attribute("folder"), "tags": .attribute("tags"),
        "httprealm": .attribute("realm"), "formactionorigin": .attribute("form-action-origin"),
        "guid": .attribute("guid"),
        "password": password, "login_password": password,
        "note": .secret("note"), "notes": .secret("note"), "extra": .secret("note"),
        "totp": .secret("totp"), "otpauth": .secret("totp"), "login_totp": .secret("totp"), "otpurl": .secret("totp"),
        "otpsecret": .secret("totp"), "fields": .secret("fields"),
        "created": .created(.iso8601), "last modified": .modified(.iso8601),
        "createtime": .created(.seconds), "modifytime": .modified(.seconds),
        "timecreated": .created(.milliseconds), "timepasswordchanged": .modified(.milliseconds),
        "icon": .ignored, "fav": .ignored, "favorite": .ignored, "archived": .ignored, "reprompt": .ignored,
        "type": .ignored, "timelastused": .ignored,
    ]

    /// Whether tables with these columns have passwords, and something that says what for.
    static func isTable(columns: [String]) -> Bool {
        let columns = columns.map { known[$0.lowercased()] }
        return columns.contains(password)
            && columns.contains { $0 == .label || $0 == .url || $0 == .attribute("username") }
    }

    private let name: String

    package init(name: String) {
        self.name = name
    }

    package func read(
        _ reader: consuming CSVReader,
        _ summary: inout ForeignFileSummary,
        _ each: (consuming ForeignItem) throws -> Void
    ) throws {
        guard try reader.advance() else { return }
        let columns = try Self.columns(reader)
        while try reader.advance() {
            guard reader.fieldCount == columns.count else {
                summary.lose(
                    "it has \(reader.fieldCount) fields instead of \(columns.count)",
                    of: "record \(reader.number)"
                )
                continue
            }
            try readRecord(reader, columns, &summary, each)
        }
    }

    /// The columns that the present record names.
    private static func columns(_ reader: borrowing CSVReader) throws(ForeignFileError) -> [Column] {
        var columns: [Column] = []
        for index in 0..<reader.fieldCount {
            let name = try reader.text(index)
            let column = known[name.lowercased()] ?? .unknown(name.isEmpty ? "column \(index + 1)" : short(name))
            // Two secrets of an entry with one name would be one item.
            let isSecond = column != .ignored && columns.contains(column)
            columns.append(isSecond ? .unknown("\(short(name)) \(index + 1)") : column)
        }
        return columns
    }

    private static func short(_ name: String) -> String { String(name.prefix(100)) }

    private func readRecord(
        _ reader: borrowing CSVReader,
        _ columns: [Column],
        _ summary: inout ForeignFileSummary,
        _ each: (consuming ForeignItem) throws -> Void
    ) throws {
        let login = try login(reader, columns)
        var isEmpty = true
        for (index, column) in columns.enumerated() {
            let field: String
            switch column {
            case .secret(let name), .unknown(let name): field = name
            default: continue
            }
            let secret = try reader.withField(index) { (bytes) throws(ForeignFileError) in
                try SecureBytes(secret: bytes)
            }
            guard !secret.isEmpty else { continue }
            isEmpty = false
            if case .unknown = column { summary.keepUnknown(field) }
            summary.countItem()
            try each(login.item(field, secret))
        }
        if isEmpty { summary.lose("it has no password", of: login.name) }
    }

    /// Reads what is not secret.
    private func login(_ reader: borrowing CSVReader, _ columns: [Column]) throws(ForeignFileError) -> Login {
        var login = Login(keychain: name)
        for (index, column) in columns.enumerated() {
            switch column {
            case .label: login.label = try reader.text(index)
            case .url: login.url = try reader.text(index)
            case .attribute(let name): login.attributes[name] = try reader.text(index)
            case .created(let time): login.created = time.read(try reader.text(index))
            case .modified(let time): login.modified = time.read(try reader.text(index))
            case .secret, .ignored, .unknown: continue
            }
        }
        return login
    }
}
