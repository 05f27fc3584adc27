import KeychaindGcrypt

/// A keyring of gnome-keyring without a password: a key file of GLib.
///
/// gnome-keyring writes a secret as it is, also with line breaks, and cannot read such a file any more. As it writes
/// `mtime` behind each secret, all lines before that belong to the secret.
package struct GNOMEKeyringText {
    private struct Item {
        var label = ""
        var type: UInt32 = 0
        var created: UInt64?
        var modified: UInt64?
        /// The lines of the secret as they are in the file.
        var secret: Range<Int>?
        var binarySecret: Range<Int>?
        var attributes: [String: (name: String?, value: String?)] = [:]
    }

    private let bytes: UnsafeRawBufferPointer
    private var name: String
    /// The numbers of the items in their order.
    private var order: [String] = []
    private var items: [String: Item] = [:]

    package init(_ bytes: UnsafeRawBufferPointer, fileName: String) throws(ForeignFileError) {
        self.bytes = bytes
        name = fileName
        var group: Group?
        var isFirst = true
        for line in Lines(bytes) {
            let text = bytes[line]
            if let group, case .item(let id) = group, continuesSecret(of: id, text) {
                let start = items[id]?.secret?.lowerBound ?? line.lowerBound
                items[id]?.secret = start..<line.upperBound
            } else if let next = Group(header: text) {
                guard !isFirst || next == .keyring else {
                    throw ForeignFileError(.notRecognized, "the file is no keyring of gnome-keyring")
                }
                isFirst = false
                group = next
                if case .item(let id) = next, items[id] == nil {
                    items[id] = Item()
                    order.append(id)
                }
            } else if let group, let equals = text.firstIndex(of: UInt8(ascii: "=")) {
                read(text[..<equals], value: equals + 1..<line.upperBound, in: group)
            } else if !text.allSatisfy(isSpace), text.first != UInt8(ascii: "#") {
                throw .damaged(at: line.lowerBound)
            }
        }
        guard !isFirst else {
            throw ForeignFileError(.notRecognized, "the file is no keyring of gnome-keyring")
        }
    }

    package func read(
        _ summary: inout ForeignFileSummary,
        _ each: (consuming ForeignItem) throws -> Void
    ) throws {
        for id in order {
            guard let item = items[id] else { continue }
            guard let secret = try secret(of: item, &summary) else {
                summary.lose("its secret is damaged", of: item.label)
                continue
            }
            var attributes: [String: String] = [:]
            for case (let name?, let value?) in item.attributes.values { attributes[name] = value }
            if attributes[GNOMEItem.schemaAttribute] == nil {
                attributes[GNOMEItem.schemaAttribute] = GNOMEItem.schema(ofType: item.type)
            }
            summary.countItem()
            try each(
                ForeignItem(
                    keychain: name,
                    label: item.label,
                    attributes: attributes,
                    secret: secret,
                    contentType: GNOMEItem.contentType,
                    created: item.created,
                    modified: item.modified
                )
            )
        }
    }

    /// Whether a line is part of the secret of an item: all are, from `secret=` to the `mtime=` behind it.
    private func continuesSecret(of id: String, _ line: Slice<UnsafeRawBufferPointer>) -> Bool {
        guard let item = items[id], item.secret != nil, item.modified == nil else { return false }
        if line.starts(with: Array("mtime=".utf8)) {
            return UInt64(String(decoding: line.dropFirst(6), as: UTF8.self)) == nil
        }
        // A file that was edited by hand may have another order.
        return Group(header: line) == nil
    }

    private mutating func read(_ key: Slice<UnsafeRawBufferPointer>, value: Range<Int>, in group: Group) {
        let key = String(decoding: key, as: UTF8.self)
        let text = { [bytes] in Self.unescaped(String(decoding: bytes[value], as: UTF8.self)) }
        switch (group, key) {
        case (.keyring, "display-name"): name = text()
        case (.item(let id), "display-name"): items[id]?.label = text()
        case (.item(let id), "item-type"): items[id]?.type = UInt32(text()) ?? 0
        case (.item(let id), "ctime"): items[id]?.created = UInt64(text())
        case (.item(let id), "mtime"): items[id]?.modified = UInt64(text())
        case (.item(let id), "secret"): items[id]?.secret = value
        case (.item(let id), "binary-secret"): items[id]?.binarySecret = value
        case (.attribute(let id, let number), "name"): items[id]?.attributes[number, default: (nil, nil)].name = text()
        case (.attribute(let id, let number), "value"):
            items[id]?.attributes[number, default: (nil, nil)].value = text()
        default: break
        }
    }

    /// The secret of an item; nil if it is damaged.
    private func secret(of item: Item, _ summary: inout ForeignFileSummary) throws(ForeignFileError) -> SecureBytes? {
        if let range = item.secret {
            var end = range.upperBound
            // Without the line `mtime` the empty line between groups looks like a part of the secret.
            if item.modified == nil {
                while end > range.lowerBound, bytes[end - 1] == UInt8(ascii: "\n") { end -= 1 }
                summary.lose("line breaks at the end of its secret may be missing", of: item.label)
            }
            let secret = UnsafeRawBufferPointer(rebasing: bytes[range.lowerBound..<end])
            if secret.contains(UInt8(ascii: "\\")) {
                summary.lose("backslashes in its secret are taken as they are; see whether it works", of: item.label)
            }
            return try SecureBytes(secret: secret)
        }
        // gnome-keyring writes an empty secret as none.
        guard let range = item.binarySecret else {
            return try SecureBytes(secret: UnsafeRawBufferPointer(start: nil, count: 0))
        }
        return try hexadecimal(bytes[range])
    }

    private func hexadecimal(_ digits: Slice<UnsafeRawBufferPointer>) throws(ForeignFileError) -> SecureBytes? {
        var result = try SecureBuffer(capacity: digits.count / 2)
        var high: UInt8?
        for byte in digits where !isSpace(byte) {
            guard let digit = hexDigit(byte) else { return nil }
            if let first = high {
                try result.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        guard high == nil else { return nil }
        return try result.withUnsafeBytes { (bytes) throws(ForeignFileError) in try SecureBytes(secret: bytes) }
    }

    /// Resolves the escapes of a key file; leading white space is not part of a value.
    private static func unescaped(_ value: String) -> String {
        var result = ""
        var scalars = value.unicodeScalars.drop { $0 == " " || $0 == "\t" }.makeIterator()
        while let scalar = scalars.next() {
            guard scalar == "\\", let escaped = scalars.next() else {
                result.unicodeScalars.append(scalar)
                continue
            }
            switch escaped {
            case "s": result += " "
            case "n": result += "\n"
            case "t": result += "\t"
            case "r": result += "\r"
            default: result.unicodeScalars.append(escaped)
            }
        }
        return result
    }
}

/// A group of a keyring, named in brackets.
private enum Group: Equatable {
    case keyring
    case item(String)
    case attribute(item: String, String)
    case accessList

    init?(header line: Slice<UnsafeRawBufferPointer>) {
        guard line.first == UInt8(ascii: "["), line.count <= 64, line.last == UInt8(ascii: "]") else { return nil }
        let name = String(decoding: line.dropFirst().dropLast(), as: UTF8.self)
        if name == "keyring" {
            self = .keyring
            return
        }
        let parts = name.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard UInt32(parts[0]) != nil else { return nil }
        if parts.count == 1 {
            self = .item(String(parts[0]))
        } else if parts[1].hasPrefix("attribute"), UInt32(parts[1].dropFirst(9)) != nil {
            self = .attribute(item: String(parts[0]), String(parts[1]))
        } else if parts[1].hasPrefix("acl") {
            self = .accessList
        } else {
            return nil
        }
    }
}

/// The lines of bytes, without their ends.
private struct Lines: Sequence, IteratorProtocol {
    private let bytes: UnsafeRawBufferPointer
    private var start = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    mutating func next() -> Range<Int>? {
        guard start < bytes.count else { return nil }
        let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        defer { start = end + 1 }
        return start..<end
    }
}

private func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || (0x09...0x0d).contains(byte)
}
