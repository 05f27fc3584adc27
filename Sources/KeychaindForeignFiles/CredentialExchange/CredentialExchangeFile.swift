import KeychaindGcrypt

/// A file in the Credential Exchange Format of the FIDO Alliance (CXF 1.0), as password managers export it unencrypted.
///
/// Sign-ins, notes and secrets of one-time passwords become items of their own. A credential of another type, also of
/// one that is not known here, keeps its JSON. So does a member that is not known, and
/// ``ForeignFileSummary/unknown`` names it.
package struct CredentialExchangeFile {
    private let bytes: UnsafeRawBufferPointer
    private let name: String

    package init(_ bytes: UnsafeRawBufferPointer, name: String) {
        self.bytes = bytes
        self.name = name
    }

    package func read(
        _ summary: inout ForeignFileSummary,
        _ each: (consuming ForeignItem) throws -> Void
    ) throws {
        var reader = JSONReader(bytes)
        let file = Login(keychain: name, label: name)
        try reader.members { member, reader in
            switch member {
            case "accounts" where try reader.isArray:
                try reader.array { reader in try readAccount(&reader, of: file, &summary, each) }
            case "version", "exporterRpId", "exporterDisplayName", "timestamp": _ = try reader.skip()
            default: try file.giveUnknown(member, &reader, &summary, each)
            }
        }
        try reader.end()
    }

    private func readAccount(
        _ reader: inout JSONReader,
        of file: Login,
        _ summary: inout ForeignFileSummary,
        _ each: (consuming ForeignItem) throws -> Void
    ) throws {
        try reader.members { member, reader in
            switch member {
            case "items" where try reader.isArray: try reader.array { try readItem(&$0, &summary, each) }
            case "id", "username", "email", "fullName", "collections": _ = try reader.skip()
            default: try file.giveUnknown("accounts.\(member)", &reader, &summary, each)
            }
        }
    }

    private func readItem(
        _ reader: inout JSONReader,
        _ summary: inout ForeignFileSummary,
        _ each: (consuming ForeignItem) throws -> Void
    ) throws {
        // Twice, since the title may stand behind the secrets.
        var second = reader
        var entry = Entry(login: try login(&reader))
        let count = summary.items
        try second.members { name, reader in
            switch name {
            case "credentials" where try reader.isArray:
                try reader.array { try readCredential(&$0, &entry, &summary, each) }
            case "id", "creationAt", "modifiedAt", "title", "subtitle", "favorite", "scope", "tags":
                _ = try reader.skip()
            default: try entry.login.giveUnknown(name, &reader, &summary, each)
            }
        }
        if summary.items == count { summary.lose("it has no secret", of: entry.login.name) }
    }

    /// An entry, and how often each field has come.
    private struct Entry {
        var login: Login
        private var fields: [String: Int] = [:]

        init(login: Login) {
            self.login = login
        }

        /// The field, which differs from earlier ones.
        mutating func next(_ field: String) -> String {
            let number = fields[field, default: 0] + 1
            fields[field] = number
            return number == 1 ? field : "\(field)-\(number)"
        }
    }

    /// Reads what is not secret.
    private func login(_ reader: inout JSONReader) throws -> Login {
        var login = Login(keychain: name)
        try reader.members { name, reader in
            switch name {
            case "title": login.label = try reader.optionalText() ?? ""
            case "subtitle": login.attributes["subtitle"] = try reader.optionalText()
            case "id": login.attributes["guid"] = try reader.optionalText()
            case "creationAt": login.created = try number(&reader)
            case "modifiedAt": login.modified = try number(&reader)
            case "tags": login.attributes["tags"] = try texts(&reader).joined(separator: ";")
            case "scope" where try reader.peek() == UInt8(ascii: "{"):
                try reader.members { name, reader in
                    guard name == "urls" else { return _ = try reader.skip() }
                    for (index, address) in try texts(&reader).enumerated() {
                        if index == 0 { login.url = address } else { login.attributes["url-\(index + 1)"] = address }
                    }
                }
            default: _ = try reader.skip()
            }
        }
        return login
    }

    private func readCredential(
        _ reader: inout JSONReader,
        _ entry: inout Entry,
        _ summary: inout ForeignFileSummary,
        _ each: (consuming ForeignItem) throws -> Void
    ) throws {
        var (named, second, rest) = (reader, reader, reader)
        let json = try reader.skip()
        var type = ""
        try named.members { name, reader in
            if name == "type" { type = try reader.optionalText() ?? "" } else { _ = try reader.skip() }
        }
        switch type {
        case "basic-auth":
            var user = try value(of: "username", second)
            if let name = try user?.optionalText() { entry.login.attributes["username"] = name }
            try give("password", try secret(of: "password", second), &entry, &summary, each)
        case "note":
            try give("note", try secret(of: "content", second), &entry, &summary, each)
        case "totp":
            try give("totp", try OneTimePassword.address(&second), &entry, &summary, each)
        case "passkey":
            summary.lose("its passkeys are not imported", of: entry.login.name)
        default:
            let field = entry.next(type.isEmpty ? "credential" : String(type.prefix(100)))
            summary.countItem()
            try each(entry.login.item(field, try SecureBytes(secret: json), contentType: "application/json"))
        }
        guard let members = Self.members[type] else { return }
        try rest.members { name, reader in
            guard !members.contains(name) else { return _ = try reader.skip() }
            try entry.login.giveUnknown("\(type).\(name)", &reader, &summary, each)
        }
    }

    /// The members of credentials that are read.
    private static let members: [String: Set<String>] = [
        "basic-auth": ["type", "username", "password"],
        "note": ["type", "content"],
        "totp": ["type", "secret", "period", "digits", "username", "algorithm", "issuer"],
    ]

    private func give(
        _ field: String,
        _ secret: consuming SecureBytes?,
        _ entry: inout Entry,
        _ summary: inout ForeignFileSummary,
        _ each: (consuming ForeignItem) throws -> Void
    ) throws {
        guard let secret else { return }
        summary.countItem()
        try each(entry.login.item(entry.next(field), secret))
    }

    // MARK: Values

    /// Finds the value of an editable field: `{"fieldType": …, "value": …}`.
    private func value(of field: String, _ reader: JSONReader) throws -> JSONReader? {
        var (reader, value) = (reader, JSONReader?.none)
        try reader.members { name, reader in
            guard name == field, try reader.peek() == UInt8(ascii: "{") else { return _ = try reader.skip() }
            try reader.members { name, reader in
                if name == "value" { value = reader }
                _ = try reader.skip()
            }
        }
        return value
    }

    private func secret(of field: String, _ reader: JSONReader) throws -> SecureBytes? {
        guard var value = try value(of: field, reader) else { return nil }
        return try value.secret()
    }

    private func number(_ reader: inout JSONReader) throws -> UInt64? {
        UInt64(String(decoding: try reader.skip(), as: UTF8.self))
    }

    private func texts(_ reader: inout JSONReader) throws -> [String] {
        guard try reader.isArray else {
            _ = try reader.skip()
            return []
        }
        var texts: [String] = []
        try reader.array { reader in if let text = try reader.optionalText() { texts.append(text) } }
        return texts
    }
}

extension JSONReader {
    fileprivate var isArray: Bool {
        get throws(ForeignFileError) {
            var reader = self
            return try reader.peek() == UInt8(ascii: "[")
        }
    }
}

/// The secret of one-time passwords, as an address that all their programs read: `otpauth://totp/…`.
private enum OneTimePassword {
    /// Reads a credential; nil for one without a secret.
    static func address(_ reader: inout JSONReader) throws -> SecureBytes? {
        var (user, issuer, options): (String, String, String) = ("", "", "")
        var found: SecureBytes?
        try reader.members { name, reader in
            switch name {
            case "secret": found = try reader.secret()
            case "username": user = try reader.optionalText() ?? ""
            case "issuer": issuer = try reader.optionalText() ?? ""
            case "algorithm": options += "&algorithm=\(encoded(try reader.optionalText() ?? "").uppercased())"
            case "period", "digits":
                if let number = UInt16(String(decoding: try reader.skip(), as: UTF8.self)) {
                    options += "&\(name)=\(number)"
                }
            default: _ = try reader.skip()
            }
        }
        guard let secret = found else { return nil }
        (user, issuer) = (encoded(user), encoded(issuer))
        if !issuer.isEmpty { options += "&issuer=\(issuer)" }
        var buffer = try SecureBuffer()
        let account = issuer.isEmpty ? user : "\(issuer):\(user)"
        for byte in "otpauth://totp/\(account)?secret=".utf8 { try buffer.append(byte) }
        try secret.withUnsafeBytes { (bytes) throws(ForeignFileError) in try buffer.append(bytes) }
        for byte in options.utf8 { try buffer.append(byte) }
        return try buffer.withUnsafeBytes { (bytes) throws(ForeignFileError) in try SecureBytes(secret: bytes) }
    }

    /// Encodes all but letters and digits (RFC 3986).
    private static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            let scalar = Unicode.Scalar(byte)
            if byte < 0x80, scalar.properties.isAlphabetic || scalar.properties.numericType != nil {
                return String(scalar)
            }
            let digits = String(byte, radix: 16, uppercase: true)
            return "%" + (digits.count == 1 ? "0" : "") + digits
        }
        .joined()
    }
}
