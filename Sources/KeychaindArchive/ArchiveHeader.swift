package import KeychaindGcrypt

/// The beginning of an archive, in the clear: how the password becomes the key.
///
/// docs/archive-format.md describes it.
package struct ArchiveHeader: Sendable {
    static let size = 68

    private static let magic = Array("KCHA".utf8)
    private static let version: UInt32 = 1
    private static let saltSize = 16
    private static let checkSize = 16
    private static let checksumSize = 8

    let cost: Argon2id
    /// Seconds since 1970.
    let created: UInt64
    /// The associated data of each chunk.
    let bytes: [UInt8]

    private let salt: [UInt8]
    private let check: [UInt8]

    /// Makes a header for a new archive, and its key.
    package static func make(
        password: borrowing SecureBytes,
        cost: Argon2id,
        created: UInt64
    ) throws(ArchiveError) -> NewArchiveKey {
        let salt = try archiving { () throws(GcryptError) in try RandomBytes.nonce(saltSize) }
        let keys = try derive(password, cost, salt)
        let header = ArchiveHeader(cost: cost, created: created, salt: salt, check: keys.check)
        return NewArchiveKey(header: header, key: keys.chunks)
    }

    private init(cost: Argon2id, created: UInt64, salt: [UInt8], check: [UInt8]) {
        self.cost = cost
        self.created = created
        self.salt = salt
        self.check = check
        var bytes = Self.magic
        for number in [Self.version, UInt32(cost.memoryKiB), UInt32(cost.iterations), UInt32(cost.lanes)] {
            bytes.append(bigEndian: number)
        }
        bytes += salt
        bytes.append(bigEndian: created)
        bytes += check
        self.bytes = bytes + ((try? Self.checksum(of: bytes)) ?? [])
    }

    /// Reads a header of unknown origin.
    init(decoding bytes: [UInt8]) throws(ArchiveError) {
        guard bytes.starts(with: Self.magic) else {
            throw ArchiveError(.notAnArchive, reason: "it is not an archive of keychaind")
        }
        guard bytes.count == Self.size else { throw ArchiveError(.truncated, reason: "it ends in its header") }
        let numbers = (0..<4).map { index in UInt32(bigEndianBytes: bytes[(4 + 4 * index)..<(8 + 4 * index)]) }
        guard numbers[0] == Self.version else {
            throw ArchiveError(.unsupported, reason: "it has the later format \(numbers[0])")
        }
        let end = Self.size - Self.checksumSize
        guard Array(bytes[end...]) == (try Self.checksum(of: Array(bytes[..<end]))) else {
            throw ArchiveError(.damaged, reason: "its header is damaged")
        }
        cost = Argon2id(memoryKiB: Int(numbers[1]), iterations: Int(numbers[2]), lanes: Int(numbers[3]))
        guard cost.work != nil else {
            throw ArchiveError(
                .unsupported,
                reason: "its key costs more than this version spends, or has odd parameters"
            )
        }
        salt = Array(bytes[20..<36])
        created = UInt64(bigEndianBytes: bytes[36..<44])
        check = Array(bytes[44..<60])
        self.bytes = bytes
    }

    /// Returns the key of the chunks; throws `wrongPassword`.
    func key(password: borrowing SecureBytes) throws(ArchiveError) -> SecureBytes {
        guard !password.isEmpty else { throw ArchiveError(.wrongPassword, reason: "the password is empty") }
        let keys = try Self.derive(password, cost, salt)
        guard keys.check == check else { throw ArchiveError(.wrongPassword, reason: "the password is wrong") }
        return keys.chunks
    }

    private struct Keys: ~Copyable {
        let chunks: SecureBytes
        /// Public: tells a wrong password from damage, and binds the archive to one key.
        let check: [UInt8]
    }

    private static func derive(
        _ password: borrowing SecureBytes,
        _ cost: Argon2id,
        _ salt: [UInt8]
    ) throws(ArchiveError) -> Keys {
        do throws(GcryptError) {
            let master = try cost.derive(password: password, salt: salt, count: SealingKey.keySize)
            let chunks = try subkey("chunks", of: master, salt, count: SealingKey.keySize)
            let check = try subkey("check", of: master, salt, count: checkSize)
            return Keys(chunks: chunks, check: check.withUnsafeBytes { Array($0) })
        } catch {
            throw ArchiveError(error)
        }
    }

    private static func subkey(
        _ name: String,
        of master: borrowing SecureBytes,
        _ salt: [UInt8],
        count: Int
    ) throws(GcryptError) -> SecureBytes {
        let info = Array("keychaind archive 1 \(name)".utf8)
        return try HKDFSHA256.derive(from: master, salt: salt, info: info, count: count, in: .locked)
    }

    private static func checksum(of bytes: [UInt8]) throws(ArchiveError) -> [UInt8] {
        let digest = try archiving { () throws(GcryptError) in try HashFunction.sha256.digest(of: bytes) }
        return Array(digest.prefix(checksumSize))
    }
}

/// The header of a new archive, and the key of its chunks.
package struct NewArchiveKey: ~Copyable {
    package let header: ArchiveHeader
    package let key: SecureBytes
}

extension Argon2id {
    /// The cost of a new archive: twice that of a keychain, since archives leave the computer.
    package static let archive = Argon2id(memoryKiB: 128 << 10, iterations: 3, lanes: 1).forNewKeys
}

extension [UInt8] {
    mutating func append(bigEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { bytes in append(contentsOf: bytes) }
    }
}

extension FixedWidthInteger {
    /// Reads at most as many bytes as the number has.
    init(bigEndianBytes bytes: some Sequence<UInt8>) {
        self = bytes.reduce(0) { number, byte in number << 8 | Self(byte) }
    }
}
