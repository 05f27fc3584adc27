import KeychaindDBus
import KeychaindGcrypt
import KeychaindVault

/// A secret encoded for a session, ready to write (#13 – #17).
struct EncodedSecret: ~Copyable {
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
