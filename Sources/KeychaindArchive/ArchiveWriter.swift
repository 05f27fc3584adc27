import Glibc
package import KeychaindGcrypt

/// Writes an archive: keychains, each followed by its items.
package struct ArchiveWriter: ~Copyable {
    private var output: ArchiveOutput
    package private(set) var keychainCount: UInt32 = 0
    package private(set) var itemCount: UInt64 = 0
    private var secretBytes = 0
    private let limits: ArchiveLimits

    /// Derives the key, which takes half a second, and writes the header.
    ///
    /// - Parameters:
    ///   - descriptor: a file to write at its position; stays open.
    ///   - created: seconds since 1970.
    package init(
        to descriptor: CInt,
        password: borrowing SecureBytes,
        cost: Argon2id = .archive,
        limits: ArchiveLimits = ArchiveLimits(),
        created: UInt64 = UInt64(max(0, time(nil)))
    ) throws(ArchiveError) {
        let new = try ArchiveHeader.make(password: password, cost: cost, created: created)
        output = try ArchiveOutput(descriptor, header: new.header, key: new.key)
        self.limits = limits
    }

    /// Begins a keychain; the next items are in it.
    package mutating func append(keychain: ArchivedKeychain) throws(ArchiveError) {
        var fields = ArchiveFields()
        fields.append(number: keychain.created)
        fields.append(number: keychain.modified)
        try fields.append(text: keychain.label)
        try write(.keychain, fields.bytes)
        keychainCount += 1
    }

    package mutating func append(
        label: String,
        attributes: [String: String],
        created: UInt64?,
        modified: UInt64?,
        contentType: String,
        secret: UnsafeRawBufferPointer
    ) throws(ArchiveError) {
        guard keychainCount > 0 else { throw ArchiveError(.limitExceeded, reason: "an item needs a keychain") }
        try limits.check(items: itemCount + 1, secretBytes: secretBytes + secret.count)
        var fields = ArchiveFields()
        fields.append(number: created)
        fields.append(number: modified)
        try fields.append(text: label)
        fields.append(count: attributes.count)
        for (name, value) in attributes.sorted(by: { $0.key < $1.key }) {
            try fields.append(text: name)
            try fields.append(text: value)
        }
        try fields.append(text: contentType)
        try write(.item, fields.bytes, secret)
        itemCount += 1
        secretBytes += secret.count
    }

    /// Writes the end; an archive without it is truncated.
    package mutating func finish() throws(ArchiveError) {
        var fields: [UInt8] = []
        fields.append(bigEndian: keychainCount)
        fields.append(bigEndian: itemCount)
        try write(.end, fields)
        try output.finish()
    }

    private mutating func write(
        _ kind: ArchiveRecord,
        _ fields: [UInt8],
        _ secret: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0)
    ) throws(ArchiveError) {
        let size = fields.count + secret.count
        guard size <= ArchiveRecord.maximumSize else {
            throw ArchiveError(.limitExceeded, reason: "a record has at most \(ArchiveRecord.maximumSize >> 20) MiB")
        }
        var bytes = [kind.rawValue]
        bytes.append(bigEndian: UInt32(size))
        bytes += fields
        try bytes.span.withUnsafeBytes { (bytes) throws(ArchiveError) in try output.append(bytes) }
        try output.append(secret)
    }
}

/// A keychain of an archive.
package struct ArchivedKeychain: Hashable, Sendable {
    package let label: String
    /// Seconds since 1970; nil if it is unknown.
    package let created: UInt64?
    /// Seconds since 1970; nil if it is unknown.
    package let modified: UInt64?

    package init(label: String, created: UInt64?, modified: UInt64?) {
        self.label = label
        self.created = created
        self.modified = modified
    }
}

/// The kinds of records in the content.
enum ArchiveRecord: UInt8 {
    case keychain = 1
    case item = 2
    case end = 3

    /// Of a record without its kind and length: more than the largest secret on D-Bus and its attributes.
    static let maximumSize = 96 << 20

    static let maximumAttributes = 4096
}

/// Encodes the fields of a record.
struct ArchiveFields {
    private(set) var bytes: [UInt8] = []

    mutating func append(number: UInt64?) {
        bytes.append(bigEndian: number ?? .max)
    }

    mutating func append(count: Int) {
        bytes.append(bigEndian: UInt32(clamping: count))
    }

    mutating func append(text: String) throws(ArchiveError) {
        guard text.utf8.count <= ArchiveRecord.maximumSize else {
            throw ArchiveError(.limitExceeded, reason: "a text is too long")
        }
        bytes.append(bigEndian: UInt32(text.utf8.count))
        bytes += text.utf8
    }
}
