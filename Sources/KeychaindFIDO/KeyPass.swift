import CKeychaindFIDO
import Glibc
import KeychaindAuthentication
import KeychaindFiles
import KeychaindGcrypt
import KeychaindModel

/// The answer of a key, with the secret that follows it, if any.
struct KeyResult: ~Copyable {
    let answer: HelperAnswer
    let secret: SecureBytes?

    init(_ answer: HelperAnswer, _ secret: consuming SecureBytes? = nil) {
        self.answer = answer
        self.secret = secret
    }
}

/// Finds the key for a request and performs it; blocks.
struct KeyPass {
    private let folder: String
    private let current: CurrentKey
    private let notify: (SecurityKeyFailure) -> Void

    /// - Parameters:
    ///   - folder: a folder of sockets; empty for the system's keys.
    ///   - notify: called with failures that do not end a waiting request.
    init(folder: String, current: CurrentKey, notify: @escaping (SecurityKeyFailure) -> Void) {
        self.folder = folder
        self.current = current
        self.notify = notify
    }

    func perform(
        _ request: SecurityKeyRequest,
        _ pin: borrowing PIN
    ) throws(SecurityKeyFailure) -> KeyResult {
        guard keychaind_fido_is_installed() != 0 else { throw .notInstalled }
        switch request {
        case .look:
            let key = try onlyKey()
            return KeyResult(.found(hasPIN: try key.abilities().hasPIN))
        case .make(let salt, let needsPIN, let known):
            return try make(salt, needsPIN: needsPIN, known, pin)
        case .open(let credentials, waits: false):
            return KeyResult(.opened, try open(credentials, pin))
        case .open(let credentials, waits: true):
            return KeyResult(.opened, try openWhenThere(credentials, pin))
        }
    }

    // MARK: Making

    private func make(
        _ salt: [UInt8],
        needsPIN: Bool,
        _ known: [SecurityKeyCredential],
        _ pin: borrowing PIN
    ) throws(SecurityKeyFailure) -> KeyResult {
        let key = try onlyKey()
        let abilities = try key.abilities()
        guard abilities.hasPIN || !needsPIN else { throw .pinNotSet }
        guard !abilities.hasPIN || pin.isThere else { throw .pinNeeded }
        let id = try key.make(excluding: known, pin: pin, isProtected: needsPIN && abilities.isProtecting)
        guard let credential = SecurityKeyCredential(id: id, salt: salt, needsPIN: needsPIN) else { throw .failed }
        return KeyResult(.made(credential: id), try key.secret(of: credential, pin: pin))
    }

    // MARK: Opening

    /// Repeats what can be helped by plugging in a key or by touching it.
    private func openWhenThere(
        _ credentials: [SecurityKeyCredential],
        _ pin: borrowing PIN
    ) throws(SecurityKeyFailure) -> SecureBytes {
        var reported: SecurityKeyFailure?
        while true {
            let present = paths()
            do throws(SecurityKeyFailure) {
                return try open(credentials, pin)
            } catch {
                guard error.passesWithAnotherKey, !current.isCancelled else { throw error }
                if error != reported { notify(error) }
                reported = error
                // A key that was not touched is asked again at once. One that did not answer is asked again after a
                // pause: it may just have been plugged in.
                while error != .notTouched, !current.isCancelled, paths() == present {
                    usleep(Self.pause)
                    if error == .takenOut || error == .notAccessible { break }
                }
            }
        }
    }

    /// Between two looks at the plugged in keys.
    private static let pause: UInt32 = 300_000

    private func open(
        _ credentials: [SecurityKeyCredential],
        _ pin: borrowing PIN
    ) throws(SecurityKeyFailure) -> SecureBytes {
        var failure = SecurityKeyFailure.noKey
        var withPIN: [String] = []
        for path in paths() {
            let known: SecurityKeyCredential?
            do throws(SecurityKeyFailure) {
                let key = try SecurityKey(path, isSocket: isSockets, current)
                if try key.abilities().hasPIN { withPIN.append(path) }
                known = try first(credentials) { (credential) throws(SecurityKeyFailure) in try key.knows(credential) }
                if failure == .noKey { failure = .unknownKey }
            } catch {
                guard error.leavesOtherKeys, !current.isCancelled else { throw error }
                // A key that did not answer is asked again, whatever the others say.
                if failure == .noKey || error == .takenOut { failure = error }
                continue
            }
            if let known { return try SecurityKey(path, isSocket: isSockets, current).secret(of: known, pin: pin) }
        }
        guard pin.isThere, !withPIN.isEmpty else { throw failure }
        // A wrong PIN costs a try: it goes to no key that may be another one.
        guard withPIN.count == 1 else { throw .severalKeys }
        let key = try SecurityKey(withPIN[0], isSocket: isSockets, current)
        for credential in credentials where try key.knows(credential, pin: pin) {
            return try key.secret(of: credential, pin: pin)
        }
        throw .unknownKey
    }

    private func first(
        _ credentials: [SecurityKeyCredential],
        where isKnown: (SecurityKeyCredential) throws(SecurityKeyFailure) -> Bool
    ) throws(SecurityKeyFailure) -> SecurityKeyCredential? {
        for credential in credentials where try isKnown(credential) { return credential }
        return nil
    }

    // MARK: Keys

    private var isSockets: Bool { !folder.isEmpty }

    /// The one key that can hold a credential.
    private func onlyKey() throws(SecurityKeyFailure) -> SecurityKey {
        var failure = SecurityKeyFailure.noKey
        var able: [String] = []
        for path in paths() {
            do throws(SecurityKeyFailure) {
                let key = try SecurityKey(path, isSocket: isSockets, current)
                _ = try key.abilities()
                able.append(path)
            } catch {
                guard error.leavesOtherKeys, !current.isCancelled else { throw error }
                failure = error
            }
        }
        guard let path = able.first else { throw failure }
        guard able.count == 1 else { throw .severalKeys }
        return try SecurityKey(path, isSocket: isSockets, current)
    }

    private func paths() -> [String] {
        guard isSockets else { return SecurityKey.systemPaths }
        let sockets = (FolderListing.names(in: folder) ?? []).map { "\(folder)/\($0)" }.filter { path in
            var status = stat()
            return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
        }
        return Array(sockets.prefix(Int(KEYCHAIND_FIDO_KEYS)))
    }
}

extension SecurityKey {
    fileprivate static var systemPaths: [String] {
        let size = Int(KEYCHAIND_FIDO_PATH_SIZE)
        var bytes = [CChar](repeating: 0, count: Int(KEYCHAIND_FIDO_KEYS) * size)
        let count = keychaind_fido_list(&bytes)
        return (0..<count).map { index in
            let path = bytes[index * size..<(index + 1) * size].prefix { $0 != 0 }
            return String(decoding: path.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
    }
}

extension SecurityKeyFailure {
    /// Whether another key, or this one a second time, may open the keychain.
    fileprivate var passesWithAnotherKey: Bool {
        switch self {
        case .noKey, .severalKeys, .unable, .notAccessible, .unknownKey, .notTouched, .takenOut: true
        case .notInstalled, .addedAlready, .pinNeeded, .pinNotSet, .wrongPIN, .pinPaused, .pinBlocked, .cancelled,
            .failed:
            false
        }
    }

    /// Whether a failure of one key is no reason to leave out the others.
    fileprivate var leavesOtherKeys: Bool {
        switch self {
        case .unable, .notAccessible, .takenOut, .failed: true
        case .notInstalled, .noKey, .severalKeys, .unknownKey, .addedAlready, .pinNeeded, .pinNotSet, .wrongPIN,
            .pinPaused, .pinBlocked, .notTouched, .cancelled:
            false
        }
    }
}
