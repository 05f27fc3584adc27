import KeychaindGcrypt

/// Opens the metadata of rows.
///
/// It has a key schedule of its own, so that threads do not wait for each other.
struct RowOpener: ~Copyable {
    private let key: SealingKey
    private var associatedData: AssociatedData
    private var plaintext = [UInt8](repeating: 0, count: 4096)

    init(_ key: consuming SealingKey, in collection: [UInt8]) throws(GcryptError) {
        self.key = key
        associatedData = AssociatedData(collection: collection, column: .metadata)
    }

    /// Passes the metadata of a row to the closure; nil if they are not genuine, or the closure returns nil.
    mutating func open<Result>(
        item: UInt64,
        revision: UInt64,
        tags: UnsafeRawBufferPointer,
        metadata sealed: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer) -> Result?
    ) throws(GcryptError) -> Result? {
        associatedData.set(item: item, column: .metadata, revision: revision)
        associatedData.set(suffix: tags)
        if plaintext.count < sealed.count { plaintext = [UInt8](repeating: 0, count: sealed.count * 2) }
        do throws(GcryptError) {
            let size = try Self.open(sealed, key, associatedData, into: &plaintext)
            return plaintext.withUnsafeBytes { bytes in body(UnsafeRawBufferPointer(rebasing: bytes[..<size])) }
        } catch {
            if error.code == .authenticationFailed { return nil }
            throw error
        }
    }

    private static func open(
        _ sealed: UnsafeRawBufferPointer,
        _ key: borrowing SealingKey,
        _ place: AssociatedData,
        into buffer: inout [UInt8]
    ) throws(GcryptError) -> Int {
        var span = buffer.mutableSpan
        return try span.withUnsafeMutableBytes { (buffer) throws(GcryptError) in
            try place.withBytes { (place) throws(GcryptError) in
                try key.open(sealed, associatedData: place, into: buffer)
            }
        }
    }
}
