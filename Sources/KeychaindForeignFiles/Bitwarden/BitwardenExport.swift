import KeychaindGcrypt

/// An export of Bitwarden as JSON.
///
/// A member with an unknown name may be secret, so each of its values becomes a secret of its own, and
/// ``ForeignFileSummary/unknown`` names it.
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
        try reader.members { member, reader in
            switch member {
            case "items" where try reader.peek() == UInt8(ascii: "["):
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
            case "encrypted", "folders", "collections": _ = try reader.skip()
            default: try Login(keychain: name, label: name).giveUnknown(member, &reader, &summary, each)
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
    private func readSecrets(
        _ member: String,
        _ reader: inout JSONReader,
        of login: Login,
        _ summary: inout ForeignFileSummary,
        _ each: (consuming ForeignItem) throws -> Void
    ) throws {
        switch member {
        case "notes": try login.give("note", &reader, &summary, each)
        case "login" where try reader.peek() == UInt8(ascii: "{"):
            try reader.members { name, reader in
                switch name {
                case "password", "totp": try login.give(name, &reader, &summary, each)
                case "fido2Credentials":
                    if try !reader.skip().isEmptyJSON { summary.lose("its passkeys are not imported", of: login.name) }
                case "username": _ = try reader.skip()
                case "uris" where try reader.peek() == UInt8(ascii: "["):
                    try reader.array { reader in try readAddress(&reader, of: login, &summary, each) }
                default: try login.giveUnknown("login.\(name)", &reader, &summary, each)
                }
            }
        case "card", "identity", "sshKey", "bankAccount", "driversLicense", "passport", "fields", "passwordHistory":
            try login.give(member, &reader, &summary, each)
        case "name", "id", "folderId", "creationDate", "revisionDate", "organizationId", "collectionIds", "type",
            "secureNote", "reprompt", "favorite", "deletedDate", "archivedDate":
            _ = try reader.skip()
        default: try login.giveUnknown(member, &reader, &summary, each)
        }
    }

    /// Reads what an address has beside itself.
    private func readAddress(
        _ reader: inout JSONReader,
        of login: Login,
        _ summary: inout ForeignFileSummary,
        _ each: (consuming ForeignItem) throws -> Void
    ) throws {
        guard try reader.peek() == UInt8(ascii: "{") else { return _ = try reader.skip() }
        try reader.members { name, reader in
            switch name {
            case "uri", "uriChecksum", "match": _ = try reader.skip()
            default: try login.giveUnknown("login.uris.\(name)", &reader, &summary, each)
            }
        }
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
