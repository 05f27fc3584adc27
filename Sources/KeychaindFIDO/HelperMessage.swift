import KeychaindAuthentication
import KeychaindModel

/// The packets between the daemon and its helper; the PIN and the secret follow in packets of their own.
enum HelperMessage {
    static let limit = 32 << 10

    /// More key slots of security keys are not tried.
    static let credentialLimit = 16

    static let secretSize = 32

    /// The arguments of the program that start it as the helper.
    static let arguments = ["keychaind", "--security-key"]
}

/// A request with the keys to use.
struct HelperRequest: Hashable, Sendable {
    let request: SecurityKeyRequest

    /// A folder of sockets; empty for the system's keys.
    let folder: String
}

extension HelperRequest {
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        switch request {
        case .look:
            bytes.append(UInt8(ascii: "l"))
            bytes.append(string: folder)
        case .make(let salt, let needsPIN, let known):
            bytes.append(UInt8(ascii: "m"))
            bytes.append(string: folder)
            bytes.append(needsPIN ? 1 : 0)
            bytes += salt
            bytes.append(credentials: known)
        case .open(let credentials, let waits):
            bytes.append(UInt8(ascii: "o"))
            bytes.append(string: folder)
            bytes.append(waits ? 1 : 0)
            bytes.append(credentials: credentials)
        }
        return bytes
    }

    init?(decoding bytes: ArraySlice<UInt8>) {
        var rest = bytes
        guard let kind = rest.popFirst(), let folder = rest.readString() else { return nil }
        switch kind {
        case UInt8(ascii: "l"):
            request = .look
        case UInt8(ascii: "m"):
            guard let needsPIN = rest.popFirst(), let salt = rest.read(SecurityKeyCredential.saltSize),
                let known = rest.readCredentials()
            else { return nil }
            request = .make(salt: salt, needsPIN: needsPIN == 1, known: known)
        case UInt8(ascii: "o"):
            guard let waits = rest.popFirst(), let credentials = rest.readCredentials() else { return nil }
            request = .open(credentials, waits: waits == 1)
        default:
            return nil
        }
        guard rest.isEmpty else { return nil }
        self.folder = folder
    }
}

/// An answer of the helper.
enum HelperAnswer: Hashable, Sendable {
    /// The operation goes on.
    case notice(SecurityKeyFailure)
    case found(hasPIN: Bool)
    /// The secret follows.
    case made(credential: [UInt8])
    /// The secret follows.
    case opened
    case failed(SecurityKeyFailure)
}

extension HelperAnswer {
    var encoded: [UInt8] {
        switch self {
        case .notice(let failure): [UInt8(ascii: "n")] + failure.encoded
        case .found(let hasPIN): [UInt8(ascii: "p"), hasPIN ? 1 : 0]
        case .made(let credential): [UInt8(ascii: "m")] + credential
        case .opened: [UInt8(ascii: "o")]
        case .failed(let failure): [UInt8(ascii: "f")] + failure.encoded
        }
    }

    init?(decoding bytes: ArraySlice<UInt8>) {
        let content = bytes.dropFirst()
        switch bytes.first {
        case UInt8(ascii: "n"):
            guard let failure = SecurityKeyFailure(decoding: content) else { return nil }
            self = .notice(failure)
        case UInt8(ascii: "p"):
            guard content.count == 1 else { return nil }
            self = .found(hasPIN: content.first == 1)
        case UInt8(ascii: "m"):
            guard (1...SecurityKeyCredential.maximumIDSize).contains(content.count) else { return nil }
            self = .made(credential: Array(content))
        case UInt8(ascii: "o"):
            guard content.isEmpty else { return nil }
            self = .opened
        case UInt8(ascii: "f"):
            guard let failure = SecurityKeyFailure(decoding: content) else { return nil }
            self = .failed(failure)
        default:
            return nil
        }
    }
}

extension SecurityKeyFailure {
    private static let plain: [SecurityKeyFailure] = [
        .notInstalled, .noKey, .severalKeys, .unable, .notAccessible, .unknownKey, .addedAlready, .pinNeeded,
        .pinNotSet, .pinPaused, .pinBlocked, .notTouched, .takenOut, .cancelled, .failed,
    ]

    private static let wrongPINCode: UInt8 = 255

    /// The code, and for a wrong PIN the tries, 255 if they are unknown.
    fileprivate var encoded: [UInt8] {
        if case .wrongPIN(let tries) = self { return [Self.wrongPINCode, UInt8(clamping: tries ?? 255)] }
        return [UInt8(clamping: Self.plain.firstIndex(of: self) ?? Self.plain.count - 1)]
    }

    fileprivate init?(decoding bytes: ArraySlice<UInt8>) {
        guard let code = bytes.first else { return nil }
        let content = bytes.dropFirst()
        if code == Self.wrongPINCode, let tries = content.first, content.count == 1 {
            self = .wrongPIN(tries: tries == 255 ? nil : Int(tries))
        } else {
            guard content.isEmpty, Self.plain.indices.contains(Int(code)) else { return nil }
            self = Self.plain[Int(code)]
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(string: String) {
        append(blob: Array(string.utf8))
    }

    fileprivate mutating func append(blob: [UInt8]) {
        let count = UInt16(clamping: blob.count)
        self += [UInt8(count >> 8), UInt8(count & 0xff)] + blob.prefix(Int(count))
    }

    fileprivate mutating func append(credentials: [SecurityKeyCredential]) {
        let few = credentials.prefix(HelperMessage.credentialLimit)
        append(UInt8(few.count))
        for credential in few {
            append(credential.needsPIN ? 1 : 0)
            self += credential.salt
            append(blob: credential.id)
        }
    }
}

extension ArraySlice<UInt8> {
    fileprivate mutating func read(_ size: Int) -> [UInt8]? {
        guard count >= size else { return nil }
        defer { removeFirst(size) }
        return Array(prefix(size))
    }

    fileprivate mutating func readBlob() -> [UInt8]? {
        guard let size = read(2) else { return nil }
        return read(Int(size[0]) << 8 | Int(size[1]))
    }

    fileprivate mutating func readString() -> String? {
        guard let bytes = readBlob() else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    fileprivate mutating func readCredentials() -> [SecurityKeyCredential]? {
        guard let number = popFirst(), number <= HelperMessage.credentialLimit else { return nil }
        var credentials: [SecurityKeyCredential] = []
        for _ in 0..<number {
            guard let needsPIN = popFirst(), let salt = read(SecurityKeyCredential.saltSize), let id = readBlob(),
                let credential = SecurityKeyCredential(id: id, salt: salt, needsPIN: needsPIN == 1)
            else { return nil }
            credentials.append(credential)
        }
        return credentials
    }
}
