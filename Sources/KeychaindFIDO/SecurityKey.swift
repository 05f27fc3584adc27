import CKeychaindFIDO
import KeychaindAuthentication
import KeychaindGcrypt
import KeychaindModel

/// An open security key; its functions block.
struct SecurityKey: ~Copyable {
    /// The time for one operation, a touch included.
    static let milliseconds: Int32 = 60_000

    private let key: OpaquePointer
    private let current: CurrentKey

    /// - Parameter current: cancels operations of the key from another thread.
    init(_ path: String, isSocket: Bool, _ current: CurrentKey) throws(SecurityKeyFailure) {
        var status = KEYCHAIND_FIDO_FAILED
        guard let key = keychaind_fido_open(path, isSocket ? 1 : 0, Self.milliseconds, &status) else {
            throw SecurityKeyFailure(status)
        }
        self.key = key
        self.current = current
        current.set(key)
    }

    deinit {
        current.set(nil)
        keychaind_fido_close(key)
    }

    struct Abilities {
        let isProtecting: Bool
        let hasPIN: Bool
    }

    /// Throws ``SecurityKeyFailure/unable`` if the key has no such secrets.
    func abilities() throws(SecurityKeyFailure) -> Abilities {
        var abilities = keychaind_fido_abilities()
        try check(keychaind_fido_look(key, &abilities))
        return Abilities(isProtecting: abilities.has_protection != 0, hasPIN: abilities.has_pin != 0)
    }

    /// Whether the key tells, without PIN and touch, that it knows a credential.
    func knows(_ credential: SecurityKeyCredential) throws(SecurityKeyFailure) -> Bool {
        do throws(SecurityKeyFailure) {
            try check(keychaind_fido_knows(key, credential.id, credential.id.count, nil))
            return true
        } catch {
            guard error == .unknownKey || error == .pinNeeded else { throw error }
            return false
        }
    }

    /// Likewise, with the PIN; no touch is needed.
    func knows(_ credential: SecurityKeyCredential, pin: borrowing PIN) throws(SecurityKeyFailure) -> Bool {
        do throws(SecurityKeyFailure) {
            try check(pin.withCString { keychaind_fido_knows(key, credential.id, credential.id.count, $0) })
            return true
        } catch {
            guard error == .unknownKey else { throw error }
            return false
        }
    }

    /// Makes a credential, and returns its identifier.
    func make(
        excluding known: [SecurityKeyCredential],
        pin: borrowing PIN,
        isProtected: Bool
    ) throws(SecurityKeyFailure) -> [UInt8] {
        // One allocation whose address is stable, for all identifiers.
        let bytes = known.flatMap(\.id)
        var id = [UInt8](repeating: 0, count: Int(KEYCHAIND_FIDO_CREDENTIAL_SIZE))
        var size = 0
        let status = bytes.withUnsafeBufferPointer { bytes in
            var offset = 0
            let excluded = known.map { credential in
                defer { offset += credential.id.count }
                return keychaind_fido_credential(
                    id: bytes.baseAddress.map { $0 + offset },
                    size: credential.id.count
                )
            }
            return pin.withCString { pin in
                keychaind_fido_make(key, excluded, excluded.count, pin, isProtected ? 1 : 0, &id, &size)
            }
        }
        try check(status)
        return Array(id.prefix(size))
    }

    func secret(of credential: SecurityKeyCredential, pin: borrowing PIN) throws(SecurityKeyFailure) -> SecureBytes {
        guard var secret = try? SecureBytes(count: HelperMessage.secretSize, in: .locked) else {
            throw .failed
        }
        let status = secret.withUnsafeMutableBytes { secret in
            let bytes = secret.assumingMemoryBound(to: UInt8.self).baseAddress
            return pin.withCString { pin in
                keychaind_fido_secret(
                    key,
                    credential.id,
                    credential.id.count,
                    credential.salt,
                    credential.needsPIN ? pin : nil,
                    bytes
                )
            }
        }
        try check(status)
        return secret
    }

    private func check(_ status: keychaind_fido_status) throws(SecurityKeyFailure) {
        switch status {
        case KEYCHAIND_FIDO_DONE:
            return
        case KEYCHAIND_FIDO_PIN_WRONG:
            let tries = keychaind_fido_pin_tries(key)
            throw .wrongPIN(tries: tries < 0 ? nil : Int(tries))
        default:
            throw SecurityKeyFailure(status)
        }
    }
}

/// A PIN, or none.
struct PIN: ~Copyable {
    /// With a final NUL.
    private let bytes: SecureBytes

    var isThere: Bool { bytes.count > 1 }

    /// - Parameter text: empty for none.
    init(_ text: borrowing SecureBytes) throws(GcryptError) {
        var copy = try SecureBytes(count: text.count + 1, in: .locked)
        copy.withUnsafeMutableBytes { copy in text.withUnsafeBytes { text in copy.copyMemory(from: text) } }
        bytes = copy
    }

    func withCString<Result>(_ body: (UnsafePointer<CChar>?) -> Result) -> Result {
        guard isThere else { return body(nil) }
        return bytes.withUnsafeBytes { body($0.assumingMemoryBound(to: CChar.self).baseAddress) }
    }
}

extension SecurityKeyFailure {
    init(_ status: keychaind_fido_status) {
        self =
            switch status {
            case KEYCHAIND_FIDO_UNKNOWN: .unknownKey
            case KEYCHAIND_FIDO_EXCLUDED: .addedAlready
            case KEYCHAIND_FIDO_UNABLE: .unable
            case KEYCHAIND_FIDO_PIN_NEEDED: .pinNeeded
            case KEYCHAIND_FIDO_PIN_NOT_SET: .pinNotSet
            case KEYCHAIND_FIDO_PIN_PAUSED: .pinPaused
            case KEYCHAIND_FIDO_PIN_BLOCKED: .pinBlocked
            case KEYCHAIND_FIDO_TIMED_OUT: .notTouched
            case KEYCHAIND_FIDO_CANCELLED: .cancelled
            case KEYCHAIND_FIDO_GONE: .takenOut
            case KEYCHAIND_FIDO_NOT_OPENED: .notAccessible
            default: .failed
            }
    }
}
