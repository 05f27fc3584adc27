/// The attributes, content types and times that KWallet keeps beside a wallet, in `NAME_attributes.json`.
package struct KWalletAttributes {
    struct Entry {
        var attributes: [String: String] = [:]
        var contentType: String?
        var created: UInt64?
        var modified: UInt64?
    }

    private var entries: [String: Entry] = [:]

    /// No attributes: KWallet's own programs give none.
    package init() {}

    package init(_ bytes: UnsafeRawBufferPointer) throws(ForeignFileError) {
        var reader = JSONReader(bytes)
        var entries: [String: Entry] = [:]
        try reader.object { (location, reader) throws(ForeignFileError) in
            // The times of the wallet itself are strings.
            guard try reader.peek() == UInt8(ascii: "{") else {
                _ = try reader.skip()
                return
            }
            entries[location] = try Self.entry(&reader)
        }
        self.entries = entries
    }

    /// Nil if KWallet's Secret Service has never seen the entry.
    subscript(folder: String, entry: String) -> Entry? {
        entries["\(folder)/\(entry)"]
    }

    private static func entry(_ reader: inout JSONReader) throws(ForeignFileError) -> Entry {
        var entry = Entry()
        try reader.object { (name, reader) throws(ForeignFileError) in
            switch name {
            case "attributes" where try reader.peek() == UInt8(ascii: "{"):
                try reader.object { (name, reader) throws(ForeignFileError) in
                    entry.attributes[name] = try reader.optionalText()
                }
            case "$fdo_mime_type": entry.contentType = try reader.optionalText()
            case "$fdo_created": entry.created = try reader.optionalText().flatMap { UInt64($0) }
            case "$fdo_modified": entry.modified = try reader.optionalText().flatMap { UInt64($0) }
            default: _ = try reader.skip()
            }
        }
        return entry
    }
}
