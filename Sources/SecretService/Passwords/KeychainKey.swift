import Authentication
import DBus
import Gcrypt
import Vault

/// What a person opens a keychain with – its password, or a recovery key –, verified without unlocking the keychain.
@BusActor
final class KeychainKey: Passcode {
    private let collection: Collection
    /// Whether the last one reads like a recovery key with a mistake in it.
    private(set) var isMistyped = false

    init(of collection: Collection) {
        self.collection = collection
    }

    var isSet: Bool { !collection.isVacant }

    func verify(_ key: consuming SecureBytes) async -> PasscodeOutcome {
        isMistyped = false
        do throws(VaultError) {
            try await collection.verify(key)
            return .right
        } catch  where error.isWrongKey {
            isMistyped = error.code == .mistypedRecoveryKey
            return .wrong
        } catch {
            return .failed(reason: error.reason)
        }
    }
}

extension VaultError {
    /// Whether what was given opens no key slot.
    var isWrongKey: Bool {
        switch code {
        case .wrongPassword, .emptyPassword, .mistypedRecoveryKey: true
        default: false
        }
    }
}

extension PasscodeAttempt {
    /// What a person is told before the next attempt.
    func warning(isMistyped: Bool) -> String {
        switch self {
        case .tooEarly(let delay):
            "Too many passwords were wrong. Try again in \(delay.components.seconds + 1) seconds."
        case .wrong where isMistyped: "That looks like a recovery key, but a character in it is wrong."
        case .wrong: "That password was not right."
        case .right, .failed: ""
        }
    }
}
