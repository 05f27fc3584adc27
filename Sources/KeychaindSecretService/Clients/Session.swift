import Glibc
import KeychaindDBus
import KeychaindGcrypt
import KeychaindVault

/// The negotiated encoding of secrets between a client and the service (#19 – #34).
final class Session {
    /// The algorithm and its key.
    enum Transport: ~Copyable {
        case plain
        case encrypted(SessionCipher)
    }

    let number: ObjectNumber
    let path: ObjectPath
    /// The number of the last use among those of the client's sessions.
    var lastUse: UInt64 = 0
    private let transport: Transport

    init(transport: consuming Transport) {
        number = .random()
        path = .session(number)
        self.transport = transport
    }

    /// Decodes a secret.
    ///
    /// Throws `InvalidArgs` for parameters in a plain session (#25). In an encrypted one, a bad vector, length or
    /// padding has the same message (#33).
    private func decode(_ value: UnsafeRawBufferPointer, parameters: [UInt8]) throws(BusError)
        -> SecureBytes
    {
        do throws(GcryptError) {
            switch transport {
            case .plain:
                guard parameters.isEmpty else {
                    throw GcryptError(.invalidCiphertext, reason: "a plain session takes no parameters")
                }
                return try SecureBytes(copying: value)
            case .encrypted(let cipher):
                return try parameters.span.withUnsafeBytes { (iv) throws(GcryptError) in
                    try cipher.decrypt(value, iv: iv)
                }
            }
        } catch {
            throw BusError(error)
        }
    }

    /// Reads the fields of an `(oayays)` after the session path.
    func readSecret(_ reader: inout Reader) throws(BusError) -> Secret {
        let parameters = try ByteArray(from: &reader).bytes
        let value = try reader.withBytes { (value) throws(BusError) in try decode(value, parameters: parameters) }
        return Secret(bytes: value, contentType: try String(from: &reader))
    }

    func encode(_ secret: consuming Secret) throws(BusError) -> EncodedSecret {
        switch transport {
        case .plain:
            return EncodedSecret(session: path, .clear(secret))
        case .encrypted(let cipher):
            do throws(GcryptError) {
                let (iv, ciphertext) = try secret.bytes.withUnsafeBytes { (bytes) throws(GcryptError) in
                    try cipher.encrypt(bytes)
                }
                return EncodedSecret(
                    session: path,
                    .encrypted(iv: iv, ciphertext: ciphertext, contentType: secret.contentType)
                )
            } catch {
                throw BusError(error)
            }
        }
    }
}

/// An algorithm that OpenSession can negotiate.
enum SessionAlgorithm: String {
    case plain
    case diffieHellman = "dh-ietf1024-sha256-aes128-cbc-pkcs7"

    /// Reads the client's input, and returns the session and the output.
    ///
    /// Throws `InvalidArgs` for the wrong type (#25) or a degenerate key (#34).
    func negotiate(_ input: inout Reader) throws(BusError) -> Agreement {
        switch self {
        case .plain:
            _ = try input.readVariant(of: String.self)
            return Agreement(session: Session(transport: .plain), output: .string(""))
        case .diffieHellman:
            return try input.readVariant { (reader) throws(BusError) in
                try reader.withBytes { (key) throws(BusError) in try SessionAlgorithm.agree(with: key) }
            }
        }
    }

    private static func agree(with peer: UnsafeRawBufferPointer) throws(BusError) -> Agreement {
        do throws(GcryptError) {
            let keyPair = try DiffieHellman(.oakley2)
            let cipher = try SessionCipher(sharedSecret: try keyPair.sharedSecret(with: peer))
            return Agreement(
                session: Session(transport: .encrypted(cipher)),
                output: .bytes(ByteArray(keyPair.publicKey))
            )
        } catch {
            throw BusError(error)
        }
    }

    struct Agreement {
        let session: Session
        let output: Variant
    }
}

/// The open sessions of a client, found by the paths in its calls.
///
/// Some programs open one for each item that they read and close none. Past a limit, the session that was not used for
/// the longest time ends, so that a long run of such a program does not fail.
struct ClientSessions {
    private var sessions: [ObjectNumber: Session] = [:]
    private var useCount: UInt64 = 0

    var count: Int { sessions.count }

    var numbers: some Sequence<ObjectNumber> { sessions.keys }

    subscript(number: ObjectNumber) -> Session? { sessions[number] }

    mutating func insert(_ session: Session) {
        noteUse(of: session)
        sessions[session.number] = session
    }

    private mutating func noteUse(of session: Session) {
        useCount += 1
        session.lastUse = useCount
    }

    mutating func remove(_ session: Session) {
        sessions[session.number] = nil
    }

    /// Removes the session that was not used for the longest time.
    mutating func removeOldest() {
        guard let oldest = sessions.values.min(by: { $0.lastUse < $1.lastUse }) else { return }
        sessions[oldest.number] = nil
    }

    mutating func removeAll() {
        sessions = [:]
    }

    // MARK: Reading arguments

    /// Reads a session path; throws `NoSession` if the session is not the client's (#38, #41).
    mutating func read(_ reader: inout Reader) throws(BusError) -> Session {
        try session(at: try reader.withObjectPath { path in SecretPath(cString: path) })
    }

    /// Nil for the path `/`.
    mutating func readOptional(_ reader: inout Reader) throws(BusError) -> Session? {
        let path = try reader.withObjectPath { path in
            strcmp(path, "/") == 0 ? nil : Optional(SecretPath(cString: path))
        }
        return if let path { try session(at: path) } else { nil }
    }

    private mutating func session(at path: SecretPath?) throws(BusError) -> Session {
        guard case .session(let number) = path, let session = sessions[number] else {
            throw BusError(.noSession, "there is no such session")
        }
        noteUse(of: session)
        return session
    }

    /// Reads an `(oayays)` encoded for a session of the client.
    mutating func readSecret(_ reader: inout Reader) throws(BusError) -> Secret {
        try reader.readStructure { (reader) throws(BusError) in
            let session = try read(&reader)
            return try session.readSecret(&reader)
        }
    }
}

extension Client {
    /// Adds a session, and ends others if there are too many.
    func insert(_ session: Session) {
        if sessions.count >= environment.limits.sessions { sessions.removeOldest() }
        sessions.insert(session)
        endSessionsOfProgram()
    }

    /// Ends sessions past the limit of the program: the oldest ones of the clients with most.
    func endSessionsOfProgram() {
        let limit = environment.limits.sessions * environment.limits.timesForProgram
        let excess = account.count { $0.sessions.count } - limit
        guard excess > 0 else { return }
        for _ in 0..<excess {
            account.clients.max { $0.sessions.count < $1.sessions.count }?.sessions.removeOldest()
        }
    }
}

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
