import KeychaindGcrypt

/// The cost and salt of a key derivation; 28 bytes: memory in KiB (4), iterations (4), lanes (4), salt (16).
struct PasswordDerivation: Equatable, Sendable {
    static let encodedSize = 12 + saltSize

    private static let saltSize = 16

    private let costs: Argon2id
    private let salt: [UInt8]

    init(_ costs: Argon2id) throws(GcryptError) {
        self.costs = costs
        salt = try RandomBytes.nonce(Self.saltSize)
    }

    init?(decoding bytes: UnsafeRawBufferPointer) {
        var reader = FieldReader(bytes)
        guard let memory = reader.integer(UInt32.self), let iterations = reader.integer(UInt32.self),
            let lanes = reader.integer(UInt32.self), reader.remaining.count == Self.saltSize
        else { return nil }
        costs = Argon2id(memoryKiB: Int(memory), iterations: Int(iterations), lanes: Int(lanes))
        salt = Array(reader.remaining)
    }

    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.encodedSize)
        for cost in [costs.memoryKiB, costs.iterations, costs.lanes] {
            bytes.append(bigEndian: UInt32(clamping: cost))
        }
        return bytes + salt
    }

    /// See ``Argon2id/work``.
    var work: Int? { costs.work }

    func key(from password: borrowing SecureBytes) throws(GcryptError) -> SecureBytes {
        try costs.derive(password: password, salt: salt, count: KeyPurpose.keySize)
    }
}
