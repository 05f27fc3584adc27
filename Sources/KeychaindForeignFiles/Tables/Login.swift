import KeychaindGcrypt

/// A sign-in of a browser or password manager: what its items have in common.
struct Login {
    /// The schema of items that were imported from a table or an export.
    static let schema = "org.keychaind.ImportedLogin"

    let keychain: String
    var label = ""
    var url = ""
    /// Attributes beside `url` and `field`; empty ones are left out.
    var attributes: [String: String] = [:]
    var created: UInt64?
    var modified: UInt64?

    /// The name of the program's entry, for messages: never empty.
    var name: String { label.isEmpty ? (url.isEmpty ? "an entry without a name" : url) : label }

    /// Makes the item of one of the secrets.
    ///
    /// - Parameter field: the name of the secret: `password` and those of others, such as `note`.
    func item(_ field: String, _ secret: consuming SecureBytes, contentType: String = "text/plain") -> ForeignItem {
        var attributes = attributes.filter { !$0.value.isEmpty }
        attributes["xdg:schema"] = Self.schema
        attributes["field"] = field
        if !url.isEmpty { attributes["url"] = url }
        return ForeignItem(
            keychain: keychain,
            label: field == "password" ? name : "\(name) (\(field))",
            attributes: attributes,
            secret: secret,
            contentType: contentType,
            created: created,
            modified: modified
        )
    }
}

extension Login {
    /// Makes an item of a value of an export, if it is not empty: of a text as it is, of others – cards, identities,
    /// keys – with their JSON.
    func give(
        _ field: String,
        _ reader: inout JSONReader,
        _ summary: inout ForeignFileSummary,
        _ each: (consuming ForeignItem) throws -> Void
    ) throws {
        var text = reader
        let json = try reader.skip()
        guard !json.isEmptyJSON else { return }
        summary.countItem()
        if let secret = try text.secret() { return try each(item(field, secret)) }
        try each(item(field, try SecureBytes(secret: json), contentType: "application/json"))
    }

    /// Does the same for a member that no reader knows, which is named.
    func giveUnknown(
        _ member: String,
        _ reader: inout JSONReader,
        _ summary: inout ForeignFileSummary,
        _ each: (consuming ForeignItem) throws -> Void
    ) throws {
        let (field, count) = (member.isEmpty ? "member" : String(member.prefix(100)), summary.items)
        try give(field, &reader, &summary, each)
        if summary.items > count { summary.keepUnknown(field) }
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the JSON of a value says nothing.
    var isEmptyJSON: Bool { ["null", "\"\"", "[]", "{}"].contains { elementsEqual($0.utf8) } }
}

/// Reads a time such as `2024-05-06T07:08:09.123Z`; nil for another form.
func secondsSince1970(_ text: String) -> UInt64? {
    let parts = text.split(whereSeparator: { "-T: .Z+".contains($0) }).prefix(6).map { Int($0) }
    guard parts.count == 6, text.count <= 40, text.utf8.dropFirst(4).first == UInt8(ascii: "-"),
        let year = parts[0], let month = parts[1], let day = parts[2], let hour = parts[3], let minute = parts[4],
        let second = parts[5], (1970...9999).contains(year), (1...12).contains(month), (1...31).contains(day),
        (0..<24).contains(hour), (0..<60).contains(minute), (0...60).contains(second)
    else { return nil }
    // Days of the proleptic Gregorian calendar, with years that begin in March.
    let shifted = month > 2 ? year : year - 1
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    let days = 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second
    return UInt64(exactly: seconds)
}
