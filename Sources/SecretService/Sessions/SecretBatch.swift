import DBus
import Gcrypt
import Vault

/// The answer of GetSecrets as it grows.
struct SecretBatch {
    private let session: Session
    private let limit: Int
    private var size = 0
    private var secrets: [(path: ObjectPath, secret: EncodedSecret)] = []

    static let signature = "a{o\(EncodedSecret.signature)}"

    /// - Parameter limit: bytes of all secrets together.
    init(session: Session, limit: Int) {
        self.session = session
        self.limit = limit
    }

    /// Adds a secret; throws `LimitsExceeded` if the answer would be too large for the bus.
    mutating func add(_ secret: consuming Secret, of path: ObjectPath) throws(BusError) {
        size += secret.bytes.count
        guard size <= limit else {
            throw BusError(
                .limitsExceeded,
                "the secrets are more than \(limit) bytes together; ask for fewer at a time"
            )
        }
        secrets.append((path, try session.encode(secret)))
    }

    func write(to writer: inout Writer) {
        writer.writeArray(of: "{o\(EncodedSecret.signature)}") { writer in
            for (path, secret) in secrets {
                writer.writeEntry { writer in
                    path.write(to: &writer)
                    secret.write(to: &writer)
                }
            }
        }
    }
}
