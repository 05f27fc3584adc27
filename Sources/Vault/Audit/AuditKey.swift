import Gcrypt

/// The key that entries of the audit are sealed under: login's, there from its first unlock on for as long as the process runs.
final class AuditKey: Sendable {
    private let key: SealingKey

    /// Takes the key out of those of login.
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

    /// Opens a row; nil when it was not sealed for this place under this key.
    func open(_ sealed: UnsafeRawBufferPointer, number: Int64) -> AuditEntry? {
        let plaintext = try? Self.place(number).withRawBytes { (place) throws(GcryptError) in
            try key.open(sealed, associatedData: place)
        }
        return plaintext?.withUnsafeBytes { bytes in AuditEntry(decoding: bytes) }
    }

    /// What a row is bound to: `KCHS`, 1 (4), the number of the row (8).
    private static func place(_ number: Int64) -> [UInt8] {
        var bytes = Array("KCHS".utf8)
        bytes.append(bigEndian: UInt32(1))
        bytes.append(bigEndian: number)
        return bytes
    }
}
