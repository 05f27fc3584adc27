import KeychaindDBus
import KeychaindGcrypt
import KeychaindVault

/// A secret encoded for a session, ready to write (#13 – #17).
///
/// A class because arrays, as in the reply of GetSecrets, hold no noncopyable values.
final class EncodedSecret {
    enum Content: ~Copyable {
        case clear(Secret)
        case encrypted(iv: [UInt8], ciphertext: [UInt8], contentType: String)
    }

    /// The D-Bus structure: session, parameters, value, content type.
    static let signature = "(oayays)"

    private let session: ObjectPath
    private let content: Content

    init(session: ObjectPath, _ content: consuming Content) {
        self.session = session
        self.content = content
    }

    @BusActor
    func answer(_ call: MethodCall) {
        call.reply { write(to: &$0) }
    }

    func write(to writer: inout Writer) {
        writer.writeStructure { writer in
            session.write(to: &writer)
            switch content {
            case .clear(let secret):
                writer.writeBytes(UnsafeRawBufferPointer(start: nil, count: 0))
                secret.bytes.withUnsafeBytes { writer.writeBytes($0) }
                secret.contentType.write(to: &writer)
            case .encrypted(let iv, let ciphertext, let contentType):
                iv.withUnsafeBytes { writer.writeBytes($0) }
                ciphertext.withUnsafeBytes { writer.writeBytes($0) }
                contentType.write(to: &writer)
            }
        }
    }
}

/// The reply of GetSecrets under construction.
struct SecretBatch {
    private let session: Session
    private let limit: Int
    private var size = 0
    private var secrets: [(path: ObjectPath, secret: EncodedSecret)] = []

    static let entrySignature = "{o\(EncodedSecret.signature)}"
    static let signature = "a\(entrySignature)"

    /// Maximum bytes of an entry's session, vector, lengths and padding.
    private static let bytesPerEntry = 160

    /// - Parameter limit: maximum bytes of the reply.
    init(session: Session, limit: Int) {
        self.session = session
        self.limit = limit
    }

    /// Adds a secret; throws `LimitsExceeded` if the reply would be too large.
    mutating func add(_ secret: consuming Secret, of path: ObjectPath) throws(BusError) {
        size += secret.bytes.count + secret.contentType.utf8.count + path.rawValue.utf8.count
        size += SecretBatch.bytesPerEntry
        guard size <= limit else { throw SecretBatch.tooLarge(limit) }
        secrets.append((path, try session.encode(secret)))
    }

    static func tooLarge(_ limit: Int) -> BusError {
        BusError(.limitsExceeded, "the secrets together are larger than \(limit) bytes; request fewer at a time")
    }

    var paths: [ObjectPath] { secrets.map(\.path) }

    mutating func remove(_ paths: Set<ObjectPath>) {
        secrets.removeAll { paths.contains($0.path) }
    }

    func write(to writer: inout Writer) {
        writer.writeArray(of: SecretBatch.entrySignature) { writer in
            for (path, secret) in secrets { SecretBatch.write(secret, of: path, to: &writer) }
        }
    }

    static func writeNone(to writer: inout Writer) {
        writer.writeArray(of: entrySignature) { _ in }
    }

    /// Writes an entry.
    static func write(_ secret: EncodedSecret, of path: ObjectPath, to writer: inout Writer) {
        writer.writeEntry { writer in
            path.write(to: &writer)
            secret.write(to: &writer)
        }
    }
}
