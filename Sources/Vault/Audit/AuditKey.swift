import Gcrypt

/// The key of audit entries.
///
/// It belongs to `login` and stays from its first unlock to the end of the process.
final class AuditKey: Sendable {
    private let key: SealingKey

    /// Takes the audit key of `login`.
    init(_ keys: CollectionKeys) throws(VaultError) {
        do throws(GcryptError) {
            key = try SealingKey(keys.auditKey)
        } catch {
            throw VaultError(error)
        }
    }

    /// Seals an entry for its row.
    func seal(_ entry: AuditEntry, number: Int64) throws(VaultError) -> [UInt8] {
        try cipher { () throws(GcryptError) in
            try entry.encoded.withRawBytes { (entry) throws(GcryptError) in
                try Self.place(number).withRawBytes { (place) throws(GcryptError) in
                    try key.seal(entry, associatedData: place)
                }
            }
        }
    }

    /// Opens a row; nil when authentication fails.
    func open(_ sealed: UnsafeRawBufferPointer, number: Int64) -> AuditEntry? {
        let plaintext = try? Self.place(number).withRawBytes { (place) throws(GcryptError) in
            try key.open(sealed, associatedData: place)
        }
        return plaintext?.withUnsafeBytes { bytes in AuditEntry(decoding: bytes) }
    }

    /// The associated data of a row: `KCHS`, 1 (4), row number (8).
    private static func place(_ number: Int64) -> [UInt8] {
        var bytes = Array("KCHS".utf8)
        bytes.append(bigEndian: UInt32(1))
        bytes.append(bigEndian: number)
        return bytes
    }
}
