import Gcrypt

/// How a key is derived from a password: the costs, and a salt of its own.
///
/// 28 bytes in a file: memory in KiB (4), iterations (4), lanes (4), salt (16).
struct PasswordDerivation: Equatable, Sendable {
    /// The size of the encoded form in bytes.
    static let encodedSize = 12 + saltSize

    private static let saltSize = 16

    private let costs: Argon2id
    private let salt: [UInt8]

    /// Makes a salt for new costs.
    init(_ costs: Argon2id) throws(GcryptError) {
        self.costs = costs
        salt = try RandomBytes.nonce(Self.saltSize)
    }

    /// Reads the encoded form; nil when it has another size.
    init?(decoding bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        guard let memory = reader.integer(UInt32.self), let iterations = reader.integer(UInt32.self),
            let lanes = reader.integer(UInt32.self), reader.remaining.count == Self.saltSize
        else { return nil }
        costs = Argon2id(memoryKiB: Int(memory), iterations: Int(iterations), lanes: Int(lanes))
        salt = Array(reader.remaining)
    }

    /// The encoded form.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.encodedSize)
        for cost in [costs.memoryKiB, costs.iterations, costs.lanes] {
            bytes.append(bigEndian: UInt32(clamping: cost))
        }
        return bytes + salt
    }

    /// Derives a key, which takes as long as the costs say.
    func key(from password: borrowing SecureBytes) throws(GcryptError) -> SecureBytes {
        try costs.derive(password: password, salt: salt, count: KeyPurpose.keySize)
    }
}
