import KeychaindGcrypt

/// An export of Bitwarden as JSON.
package struct BitwardenExport {
    private let bytes: UnsafeRawBufferPointer
    private let name: String
    private let folders: [String: String]

    /// Reads the folders, and refuses an encrypted export.
    package init(_ bytes: UnsafeRawBufferPointer, name: String) throws {
        self.bytes = bytes
        self.name = name
        var folders: [String: String] = [:]
        var isEncrypted = true
        var reader = JSONReader(bytes)
        try reader.members { name, reader in
            switch name {
            case "encrypted": isEncrypted = try !reader.skip().elementsEqual(Array("false".utf8))
            case "folders", "collections": try reader.array { try Self.folder(&$0, &folders) }
            default: _ = try reader.skip()
            }
        }
        try reader.end()
        guard !isEncrypted else {
            throw ForeignFileError(
                .unsupported,
                "the export is encrypted; export again as “.json”, not “.json (Encrypted)”, and delete that file afterwards"
            )
        }
        self.folders = folders
    }

    package func read(
        _ summary: inout ForeignFileSummary,
        _ each: (consuming ForeignItem) throws -> Void
    ) throws {
        var reader = JSONReader(bytes)
        try reader.members { name, reader in
            guard name == "items" else {
                _ = try reader.skip()
                return
            }
            try reader.array { reader in
                // Twice, since the name of an entry may stand behind its secrets.
                var second = reader
                let login = try login(&reader)
                let count = summary.items
                try second.members { name, reader in
                    try readSecrets(name, &reader, of: login, &summary, each)
                }
                if summary.items == count { summary.lose("it has no secret", of: login.name) }
            }
        }
    }

    /// Reads what is not secret.
    private func login(_ reader: inout JSONReader) throws -> Login {
        var login = Login(keychain: name)
        try reader.members { name, reader in
            switch name {
            case "name": login.label = try reader.optionalText() ?? ""
            case "id": login.attributes["guid"] = try reader.optionalText()
            case "folderId": login.attributes["folder"] = try reader.optionalText().flatMap { folders[$0] }
            case "creationDate": login.created = try reader.optionalText().flatMap(secondsSince1970)
            case "revisionDate": login.modified = try reader.optionalText().flatMap(secondsSince1970)
            case "login" where try reader.peek() == UInt8(ascii: "{"):
                try reader.members { name, reader in
                    switch name {
                    case "username": login.attributes["username"] = try reader.optionalText()
                    case "uris" where try reader.peek() == UInt8(ascii: "["): try Self.addresses(&reader, of: &login)
                    default: _ = try reader.skip()
                    }
                }
            default: _ = try reader.skip()
            }
        }
        return login
    }

    /// Reads the addresses of a sign-in: the first is `url`, the next `url-2`.
    private static func addresses(_ reader: inout JSONReader, of login: inout Login) throws {
        var count = 0
        try reader.array { reader in
            guard try reader.peek() == UInt8(ascii: "{") else {
                _ = try reader.skip()
                return
            }
            try reader.members { name, reader in
                guard name == "uri", let address = try reader.optionalText() else {
                    if name != "uri" { _ = try reader.skip() }
                    return
                }
                count += 1
                if count == 1 { login.url = address } else { login.attributes["url-\(count)"] = address }
            }
        }
    }

    /// Reads a member of an entry, if it has a secret.
    ///
    /// What has many fields – cards, identities, keys – becomes one item, with the JSON of the export.
    private func readSecrets(
        _ member: String,
        _ reader: inout JSONReader,
        of login: Login,
        _ summary: inout ForeignFileSummary,
        _ each: (consuming ForeignItem) throws -> Void
    ) throws {
        switch member {
        case "notes": try give("note", try reader.secret(), of: login, &summary, each)
        case "login" where try reader.peek() == UInt8(ascii: "{"):
            try reader.members { name, reader in
                switch name {
                case "password", "totp": try give(name, try reader.secret(), of: login, &summary, each)
                case "fido2Credentials":
                    if try !isEmpty(reader.skip()) { summary.lose("its passkeys are not imported", of: login.name) }
                default: _ = try reader.skip()
                }
            }
        case "card", "identity", "sshKey", "fields", "passwordHistory":
            let json = try reader.skip()
            guard !isEmpty(json) else { return }
            summary.countItem()
            try each(login.item(member, try SecureBytes(secret: json), contentType: "application/json"))
        default: _ = try reader.skip()
        }
    }

    private func give(
        _ field: String,
        _ secret: consuming SecureBytes?,
        of login: Login,
        _ summary: inout ForeignFileSummary,
        _ each: (consuming ForeignItem) throws -> Void
    ) throws {
        guard let secret else { return }
        summary.countItem()
        try each(login.item(field, secret))
    }

    private func isEmpty(_ json: UnsafeRawBufferPointer) -> Bool {
        ["null", "[]", "{}"].contains { json.elementsEqual(Array($0.utf8)) }
    }

    private static func folder(_ reader: inout JSONReader, _ folders: inout [String: String]) throws {
        var (id, name): (String?, String?)
        try reader.members { member, reader in
            switch member {
            case "id": id = try reader.optionalText()
            case "name": name = try reader.optionalText()
            default: _ = try reader.skip()
            }
        }
        if let id, let name { folders[id] = name }
    }
}
