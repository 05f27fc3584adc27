package import KeychaindGcrypt
package import KeychaindModel
import Logging

/// The keys of unlocked collections, encoded for the next process; in memory only.
///
/// `KCHNKEY` and version (8), count (4); per collection: length of the name (2), name, identifier (16), keys of
/// metadata, secrets, log and audit, passcode public key (32 each); checksum (32). The checksum detects
/// accidents; whoever could forge it has the keys. Master keys and the passcode key are not included.
enum KeyHandover {
    struct Entry: Sendable {
        var name: CollectionName
        var identifier: [UInt8]
        var keys: UnlockedKeys
        /// When the keys were taken; nil for those of the previous process.
        var begun: LockMoment?
    }

    static let maximumSize = 128 << 10

    private static let magic: [UInt8] = Array("KCHNKEY".utf8) + [1]
    private static let checksumSize = 32
    private static let keysSize = 5 * KeyPurpose.keySize

    static func encode(_ entries: [Entry]) throws(GcryptError) -> SecureBytes {
        let size = entries.reduce(magic.count + 4 + checksumSize) { size, entry in
            size + 2 + entry.name.encoded.utf8.count + CollectionFormat.identifierSize + keysSize
        }
        var bytes = try SecureBytes(count: size, in: .locked)
        var position = 0
        write(magic, to: &bytes, at: &position)
        write(bigEndian: UInt32(clamping: entries.count), to: &bytes, at: &position)
        for entry in entries {
            let name = Array(entry.name.encoded.utf8)
            write(bigEndian: UInt16(clamping: name.count), to: &bytes, at: &position)
            write(name, to: &bytes, at: &position)
            write(entry.identifier, to: &bytes, at: &position)
            entry.keys.collection.withMetadataKey { key in write(key, to: &bytes, at: &position) }
            entry.keys.secrets.withKey { key in write(key, to: &bytes, at: &position) }
            entry.keys.collection.withLogKey { key in write(key, to: &bytes, at: &position) }
            write(entry.keys.collection.auditKey, to: &bytes, at: &position)
            write(entry.keys.collection.passcodePublicKey, to: &bytes, at: &position)
        }
        let end = position
        let checksum = try bytes.withUnsafeBytes { (bytes) throws(GcryptError) in
            try Self.checksum(of: UnsafeRawBufferPointer(rebasing: bytes[..<end]))
        }
        write(checksum, to: &bytes, at: &position)
        return bytes
    }

    /// Decodes the keys; an empty result if the encoding is invalid.
    static func decode(_ bytes: borrowing SecureBytes) throws(GcryptError) -> [Entry] {
        try bytes.withUnsafeBytes { (bytes) throws(GcryptError) in
            guard bytes.count > magic.count + 4 + checksumSize, bytes.count <= maximumSize else { return [] }
            let content = UnsafeRawBufferPointer(rebasing: bytes.dropLast(checksumSize))
            guard try checksum(of: content).elementsEqual(bytes.suffix(checksumSize)) else { return [] }
            var reader = FieldReader(content)
            guard let start = reader.bytes(magic.count), start.elementsEqual(magic),
                let count = reader.integer(UInt32.self)
            else { return [] }
            var entries: [Entry] = []
            while entries.count < Int(count) {
                guard let entry = try entry(&reader) else { return [] }
                entries.append(entry)
            }
            return reader.remaining.isEmpty ? entries : []
        }
    }

    private static func entry(_ reader: inout FieldReader) throws(GcryptError) -> Entry? {
        guard let length = reader.integer(UInt16.self), let text = reader.bytes(Int(length)),
            let name = CollectionName(encoded: String(decoding: text, as: UTF8.self)),
            let identifier = reader.bytes(CollectionFormat.identifierSize),
            let metadata = reader.bytes(KeyPurpose.keySize), let secrets = reader.bytes(KeyPurpose.keySize),
            let log = reader.bytes(KeyPurpose.keySize), let audit = reader.bytes(KeyPurpose.keySize),
            let passcode = reader.bytes(X25519.size)
        else { return nil }
        let collection = Array(identifier)
        let keys = UnlockedKeys(
            collection: try CollectionKeys(
                metadata: SecureBytes(copying: metadata, in: .locked),
                log: SecureBytes(copying: log, in: .locked),
                audit: SecureBytes(copying: audit, in: .locked),
                passcodePublicKey: Array(passcode),
                collection: collection
            ),
            secrets: try SecretsKey(SecureBytes(copying: secrets, in: .locked), collection: collection)
        )
        return Entry(name: name, identifier: collection, keys: keys)
    }

    private static func checksum(of content: UnsafeRawBufferPointer) throws(GcryptError) -> [UInt8] {
        try HMACSHA256(key: SecureBytes(copying: magic)).authenticate(content)
    }

    private static func write(
        bigEndian value: some FixedWidthInteger,
        to bytes: inout SecureBytes,
        at position: inout Int
    ) {
        withUnsafeBytes(of: value.bigEndian) { value in write(value, to: &bytes, at: &position) }
    }

    private static func write(_ value: [UInt8], to bytes: inout SecureBytes, at position: inout Int) {
        value.withUnsafeBytes { value in write(value, to: &bytes, at: &position) }
    }

    private static func write(_ value: borrowing SecureBytes, to bytes: inout SecureBytes, at position: inout Int) {
        value.withUnsafeBytes { value in write(value, to: &bytes, at: &position) }
    }

    private static func write(_ value: UnsafeRawBufferPointer, to bytes: inout SecureBytes, at position: inout Int) {
        let start = position
        bytes.withUnsafeMutableBytes { bytes in
            UnsafeMutableRawBufferPointer(rebasing: bytes[start..<(start + value.count)]).copyMemory(from: value)
        }
        position += value.count
    }
}

extension Vault {
    /// Returns the keys of the unlocked collections, in locked memory; nil when there are none.
    ///
    /// They open all secrets except those that need the passcode or an application password. Received keys that have
    /// not been tried yet are handed on, unless their collection was locked since.
    package func handOver() throws(VaultError) -> SecureBytes? {
        let entries = collections.compactMap { collection in collection.handover ?? untriedKeys(of: collection) }
        guard !entries.isEmpty else { return nil }
        return try cipher { () throws(GcryptError) in try KeyHandover.encode(entries) }
    }

    /// Keeps the keys of the previous process for ``takeOver()``; none if the encoding is invalid.
    ///
    /// A lock of a collection since then stops its unlock.
    package func receive(_ keys: borrowing SecureBytes) throws(VaultError) {
        var entries = try cipher { () throws(GcryptError) in try KeyHandover.decode(keys) }
        let begun = unlockStart
        for index in entries.indices { entries[index].begun = begun }
        receivedKeys = entries
    }

    /// Unlocks collections with the received keys, and returns their names; skips those replaced or already in use.
    package func takeOver() async -> [CollectionName] {
        var unlocked: [CollectionName] = []
        while let entry = receivedKeys.first {
            if let collection = collection(named: entry.name) {
                do throws(VaultError) {
                    if try await collection.unlock(with: entry) { unlocked.append(entry.name) }
                } catch {
                    collection.context.configuration.logger.warning(
                        "\(entry.name): it could not be unlocked with the handed-over keys: \(error.reason)"
                    )
                }
            }
            // Not before: an end meanwhile hands them over again.
            receivedKeys.removeAll { other in other.name == entry.name }
        }
        return unlocked
    }

    private func untriedKeys(of collection: Collection) -> KeyHandover.Entry? {
        receivedKeys.first { entry in
            guard entry.name == collection.name, entry.identifier == collection.header?.identifier,
                let begun = entry.begun
            else { return false }
            return !collection.context.locks.contain(entry.name, since: begun)
        }
    }
}

extension Collection {
    /// The keys while the collection is unlocked; nil for the collection in memory.
    var handover: KeyHandover.Entry? {
        guard case .unlocked(let secrets) = phase, case .file = storage, let keys, let header else { return nil }
        return KeyHandover.Entry(
            name: name,
            identifier: header.identifier,
            keys: UnlockedKeys(collection: keys, secrets: secrets),
            begun: context.locks.now
        )
    }
}
