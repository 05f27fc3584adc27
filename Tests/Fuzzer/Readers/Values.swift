import Glibc
import KeychaindAuthentication
import KeychaindGcrypt
import KeychaindModel

@testable import KeychaindDBus
@testable import KeychaindSecretService

/// Arguments of calls: each reader on a body of its signature, which libdbus has validated.
extension FuzzReader {
    static let values = [
        FuzzReader("message") { bytes in
            guard let message = WireMessage.demarshal(bytes) else { throw Refusal() }
            _ = message.withPath { SecretPath(bytes: $0) }
            promise(message.argumentSize <= bytes.count, "arguments have no more bytes than their message")
            _ = message.error
            _ = try? message.read(Variant.self)
            _ = try? message.read([String: Variant].self)
            message.wipeStrings()
            message.wipeByteArrays()
        },
        FuzzReader("item-properties", argument("a{sv}") { _ = try ItemDescription(from: &$0) }),
        FuzzReader(
            "attributes-argument",
            argument("a{ss}") { reader in
                let attributes = try Attributes(from: &reader)
                let again = attributes.packed.withUnsafeBytes { Attributes(validating: $0) }
                promise(again == attributes, "attributes that are taken are stored")
            }
        ),
        FuzzReader("variants", argument("a{sv}") { _ = try [String: Variant](from: &$0) }),
        FuzzReader("agreement", argument("a{sv}") { _ = try AgreementParameters(from: &$0) }),
        FuzzReader("credentials", argument("a{sv}") { _ = try ConnectionCredentials(from: &$0) }),
        FuzzReader("unique-names", argument("as") { _ = try UniqueKey.readNames(&$0) }),
        FuzzReader(
            "secret-plain",
            argument("ayays") { reader in
                _ = try Session(transport: .plain).readSecret(&reader)
            }
        ),
        FuzzReader(
            "secret-encrypted",
            argument("ayays") { reader in
                let key = try SecureBytes(copying: [UInt8](repeating: 5, count: 128))
                let session = Session(transport: .encrypted(try SessionCipher(sharedSecret: key)))
                _ = try session.readSecret(&reader)
            }
        ),
        FuzzReader(
            "session-handshake",
            argument("sv") { reader in
                guard let algorithm = SessionAlgorithm(rawValue: try String(from: &reader)) else { throw Refusal() }
                _ = try algorithm.negotiate(&reader)
            }
        ),
        FuzzReader("diffie-hellman") { bytes in
            _ = try keyPair?.sharedSecret(with: bytes)
        },
        FuzzReader("secret-path") { bytes in
            guard let path = SecretPath(bytes: bytes), ObjectPath(bytes.text) != nil else { throw Refusal() }
            promise(path.text == bytes.text, "an object has one path, but for its aliases")
            _ = AliasElement.decodings(of: bytes.text)
        },
    ]

    /// Has a short exponent: what a peer sends decides nothing in the exponentiation, and a long one takes most of the
    /// time.
    private static let keyPair = try? DiffieHellman(.oakley2, exponent: SecureBytes(copying: [3], in: .locked))

    private static func argument(
        _ signature: String,
        _ read: @escaping @Sendable (inout Reader) throws -> Void
    ) -> @Sendable (UnsafeRawBufferPointer) throws -> Void {
        { bytes in
            guard let message = WireMessage(signature: signature).message(bytes) else { throw Refusal() }
            var reader = message.makeReader()
            try read(&reader)
        }
    }
}

extension SecretPath {
    /// The path of what it names.
    fileprivate var text: String {
        switch self {
        case .node(.root): "/"
        case .node(.org): "/org"
        case .node(.freedesktop): "/org/freedesktop"
        case .node(.keychaind): "/org/keychaind"
        case .node(.collections): Self.base + "/collection"
        case .node(.aliases): Self.base + "/aliases"
        case .node(.sessions): Self.base + "/session"
        case .node(.prompts): Self.base + "/prompt"
        case .node(.contexts): "/org/keychaind/Authentication/context"
        case .service: Self.base
        case .collection(let collection): collection.text
        case .item(let collection, let id): "\(collection.text)/\(id.rawValue)"
        case .session(let number): ObjectPath.session(number).rawValue
        case .prompt(let number): ObjectPath.prompt(number).rawValue
        case .context(let number): ObjectPath.context(number).rawValue
        case .audit: "/org/keychaind/Audit"
        case .authentication: "/org/keychaind/Authentication"
        case .backups: ObjectPath.backups.rawValue
        case .portal: "/org/keychaind/Portal"
        case .rules: ObjectPath.rules.rawValue
        case .sandboxes: ObjectPath.sandboxes.rawValue
        }
    }
}

extension SecretPath.CollectionReference {
    fileprivate var text: String {
        switch self {
        case .name(let name): ObjectPath.collection(name).rawValue
        case .alias(let encoded): "\(SecretPath.base)/aliases/\(encoded)"
        }
    }
}
