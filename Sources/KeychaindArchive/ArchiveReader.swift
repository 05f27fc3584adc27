package import KeychaindForeignFiles
package import KeychaindGcrypt

/// Reads an archive of unknown origin, item by item.
///
/// Each item was written by somebody who knew the password. Only after the last, when ``next()`` returns nil, is it
/// known that none is missing: read an archive twice to take all or nothing.
package struct ArchiveReader: ~Copyable {
    /// The creation of the archive, in seconds since 1970.
    package let created: UInt64

    /// The keychains so far, also those without items.
    package private(set) var keychains: [ArchivedKeychain] = []
    package private(set) var itemCount: UInt64 = 0

    private static let maximumKeychains = 100_000

    private let limits: ArchiveLimits
    private var secretBytes = 0
    private var input: ArchiveInput
    private var isFinished = false

    /// Whether a file begins as an archive does.
    package static func recognizes(_ beginning: [UInt8]) -> Bool {
        beginning.starts(with: Array("KCHA".utf8))
    }

    /// Reads the header and derives the key.
    ///
    /// Throws `notAnArchive`, `unsupported`, `wrongPassword`, `truncated`, `damaged` and `inputOutput`, as ``next()``
    /// does, which also throws `limitExceeded`.
    ///
    /// - Parameter descriptor: a file to read from its position; stays open.
    package init(
        from descriptor: CInt,
        password: borrowing SecureBytes,
        limits: ArchiveLimits = ArchiveLimits()
    ) throws(ArchiveError) {
        let header = try Self.header(of: descriptor)
        let key = try header.key(password: password)
        self.init(
            try ArchiveInput(descriptor, header: header, key: key),
            created: header.created,
            limits: limits
        )
    }

    private init(_ input: consuming ArchiveInput, created: UInt64, limits: ArchiveLimits) {
        self.input = input
        self.created = created
        self.limits = limits
    }

    /// Throws unless the file begins with the header of an archive; moves its position.
    package static func check(_ descriptor: CInt) throws(ArchiveError) {
        _ = try header(of: descriptor)
    }

    /// Reads a whole archive, and returns the number of its items.
    package static func countItems(
        in descriptor: CInt,
        password: borrowing SecureBytes
    ) throws(ArchiveError) -> UInt64 {
        var reader = try ArchiveReader(from: descriptor, password: password)
        while try reader.next() != nil {}
        return reader.itemCount
    }

    private static func header(of descriptor: CInt) throws(ArchiveError) -> ArchiveHeader {
        try ArchiveHeader(decoding: try ArchiveInput.read(ArchiveHeader.size, from: descriptor))
    }

    /// Returns the next item; nil at the end of the archive.
    package mutating func next() throws(ArchiveError) -> ForeignItem? {
        while !isFinished {
            var head = [UInt8](repeating: 0, count: 5)
            try read(into: &head)
            let size = Int(UInt32(bigEndianBytes: head[1...]))
            guard let kind = ArchiveRecord(rawValue: head[0]), size <= ArchiveRecord.maximumSize else {
                throw ArchiveError(.damaged, reason: "it has an unknown record")
            }
            var record = try archiving { () throws(GcryptError) in try SecureBytes(count: size) }
            try record.withUnsafeMutableBytes { (bytes) throws(ArchiveError) in try input.read(into: bytes) }
            switch kind {
            case .keychain: try addKeychain(record)
            case .item: return try item(record)
            case .end: try end(record)
            }
        }
        return nil
    }

    private mutating func read(into bytes: inout [UInt8]) throws(ArchiveError) {
        var span = bytes.mutableSpan
        try span.withUnsafeMutableBytes { (bytes) throws(ArchiveError) in try input.read(into: bytes) }
    }

    private mutating func addKeychain(_ record: borrowing SecureBytes) throws(ArchiveError) {
        guard keychains.count < Self.maximumKeychains else {
            throw ArchiveError(.damaged, reason: "it has too many keychains")
        }
        let keychain = try record.withUnsafeBytes { (bytes) throws(ArchiveError) in
            var fields = ArchiveFieldReader(bytes)
            let (created, modified) = (try fields.number(), try fields.number())
            return ArchivedKeychain(label: try fields.text(), created: created, modified: modified)
        }
        keychains.append(keychain)
    }

    private mutating func item(_ record: consuming SecureBytes) throws(ArchiveError) -> ForeignItem {
        guard let keychain = keychains.last else {
            throw ArchiveError(.damaged, reason: "it has an item without a keychain")
        }
        let (created, modified, label, attributes, contentType, start) = try record.withUnsafeBytes {
            (bytes) throws(ArchiveError) in
            var fields = ArchiveFieldReader(bytes)
            let (created, modified) = (try fields.number(), try fields.number())
            let label = try fields.text()
            let count = try fields.count()
            guard count <= ArchiveRecord.maximumAttributes else { throw ArchiveFieldReader.damaged }
            var attributes: [String: String] = [:]
            for _ in 0..<count {
                let name = try fields.text()
                attributes[name] = try fields.text()
            }
            return (created, modified, label, attributes, try fields.text(), fields.position)
        }
        record.removeFirst(start)
        itemCount += 1
        secretBytes += record.count
        try limits.check(items: itemCount, secretBytes: secretBytes)
        return ForeignItem(
            keychain: keychain.label,
            label: label,
            attributes: attributes,
            secret: record,
            contentType: contentType,
            created: created,
            modified: modified
        )
    }

    private mutating func end(_ record: borrowing SecureBytes) throws(ArchiveError) {
        let isWhole = record.withUnsafeBytes { bytes in
            bytes.count == 12 && UInt32(bigEndianBytes: bytes[..<4]) == UInt32(clamping: keychains.count)
                && UInt64(bigEndianBytes: bytes[4...]) == itemCount
        }
        guard isWhole, input.isAtEnd else {
            throw ArchiveError(.damaged, reason: "its end does not match its content")
        }
        isFinished = true
    }
}

/// Decodes the fields of a record.
private struct ArchiveFieldReader {
    static let damaged = ArchiveError(.damaged, reason: "a record of it is malformed")

    private let bytes: UnsafeRawBufferPointer
    private(set) var position = 0

    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    mutating func number() throws(ArchiveError) -> UInt64? {
        let number = UInt64(bigEndianBytes: try take(8))
        return number == .max ? nil : number
    }

    mutating func count() throws(ArchiveError) -> Int {
        Int(UInt32(bigEndianBytes: try take(4)))
    }

    /// D-Bus texts are UTF-8 without NUL.
    mutating func text() throws(ArchiveError) -> String {
        let bytes = try take(try count())
        guard !bytes.contains(0), let text = String(validating: bytes, as: UTF8.self) else { throw Self.damaged }
        return text
    }

    private mutating func take(_ count: Int) throws(ArchiveError) -> Slice<UnsafeRawBufferPointer> {
        guard count <= bytes.count - position else { throw Self.damaged }
        defer { position += count }
        return bytes[position..<(position + count)]
    }
}
