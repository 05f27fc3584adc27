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

    /// Bytes of an entry apart from path, secret and content type, at most: session, vector, lengths and padding.
    private static let bytesPerEntry = 160

    /// - Parameter limit: bytes of the whole answer.
    init(session: Session, limit: Int) {
        self.session = session
        self.limit = limit
    }

    /// Adds a secret; throws `LimitsExceeded` if the answer would be too large for the bus.
    mutating func add(_ secret: consuming Secret, of path: ObjectPath) throws(BusError) {
        size += secret.bytes.count + secret.contentType.utf8.count + path.rawValue.utf8.count
        size += SecretBatch.bytesPerEntry
        guard size <= limit else {
            throw BusError(
                .limitsExceeded,
                "the secrets are more than \(limit) bytes together; ask for fewer at a time"
            )
        }
        secrets.append((path, try session.encode(secret)))
    }

    /// Under which paths secrets were added.
    var paths: [ObjectPath] { secrets.map(\.path) }

    /// Takes secrets out again.
    mutating func remove(_ paths: Set<ObjectPath>) {
        secrets.removeAll { paths.contains($0.path) }
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
