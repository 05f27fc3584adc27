import KeychaindDBus
import KeychaindGcrypt

/// A session with a provider, for the transport of secrets.
final class ClientSession {
    let path: ObjectPath
    private let cipher: SessionCipher?

    /// Creates a plain session.
    init(path: ObjectPath) {
        self.path = path
        cipher = nil
    }

    /// Creates an encrypted session.
    init(path: ObjectPath, cipher: consuming SessionCipher) {
        self.path = path
        self.cipher = consume cipher
    }

    /// Whether the next secret of a reader is the expected one.
    func isSecret(_ expected: [UInt8], at reader: inout Reader) throws -> Bool {
        let (parameters, value) = try reader.readStructure { (reader) throws(BusError) in
            _ = try ObjectPath(from: &reader)
            let values = (try ByteArray(from: &reader).bytes, try ByteArray(from: &reader).bytes)
            reader.skip()
            return values
        }
        guard cipher != nil else { return value == expected }
        return try decrypt(value, iv: parameters) == expected
    }

    private func decrypt(_ ciphertext: [UInt8], iv: [UInt8]) throws -> [UInt8]? {
        try ciphertext.withUnsafeBytes { ciphertext in
            try iv.withUnsafeBytes { iv in
                try cipher?.decrypt(ciphertext, iv: iv).withUnsafeBytes { [UInt8]($0) }
            }
        }
    }
}
