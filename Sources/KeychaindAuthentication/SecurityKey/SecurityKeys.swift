package import KeychaindDBus
package import KeychaindGcrypt
package import KeychaindLanguage
package import KeychaindModel

/// The security keys (FIDO2) that are plugged in.
@BusActor
package protocol SecurityKeys: AnyObject {
    /// Starts an operation; one at a time.
    ///
    /// - Parameters:
    ///   - pin: the PIN of the key; wiped afterwards.
    ///   - notice: called with failures that do not end the operation.
    func start(
        _ request: SecurityKeyRequest,
        pin: consuming SecureBytes?,
        notice: @escaping @BusActor (SecurityKeyFailure) -> Void
    ) -> any SecurityKeyOperation
}

/// An operation of a security key.
package enum SecurityKeyRequest: Hashable, Sendable {
    /// Finds the one key that is plugged in.
    case look

    /// Makes a credential, with two touches.
    ///
    /// - Parameters:
    ///   - salt: 32 random bytes.
    ///   - needsPIN: whether its secret needs the PIN.
    ///   - known: the credentials that the key must not have.
    case make(salt: [UInt8], needsPIN: Bool, known: [SecurityKeyCredential])

    /// Gets the secret of one of these credentials, with a touch.
    ///
    /// - Parameter waits: whether to wait until such a key is plugged in and touched.
    case open([SecurityKeyCredential], waits: Bool)
}

/// A running operation of a security key.
@BusActor
package protocol SecurityKeyOperation: AnyObject {
    /// Waits for the end; called once.
    func outcome() async -> SecurityKeyOutcome

    /// Takes the secret, in locked memory, after ``SecurityKeyOutcome/made(_:)`` and ``SecurityKeyOutcome/opened``.
    func takeSecret() -> SecureBytes?

    /// Cancels the operation: it fails with ``SecurityKeyFailure/cancelled`` unless it has ended.
    func cancel()
}

/// The outcome of an operation.
package enum SecurityKeyOutcome: Hashable, Sendable {
    case found(hasPIN: Bool)
    case made(SecurityKeyCredential)
    case opened
    case failed(SecurityKeyFailure)
}

/// The failure of an operation.
package enum SecurityKeyFailure: Error, Hashable, Sendable {
    case notInstalled
    case noKey
    case severalKeys
    /// No FIDO2 key, or one without the extension hmac-secret.
    case unable
    case notAccessible
    case unknownKey
    case addedAlready
    case pinNeeded
    case pinNotSet
    /// - Parameter tries: the tries that are left; nil if unknown.
    case wrongPIN(tries: Int?)
    /// The key has to be plugged in again before the next try.
    case pinPaused
    /// Only a reset of the key helps.
    case pinBlocked
    case notTouched
    case takenOut
    case cancelled
    case failed

    /// The explanation for a person.
    package var text: Text {
        switch self {
        case .notInstalled: Text("Security keys need libfido2, which is not installed.")
        case .noKey: Text("No security key is plugged in.")
        case .severalKeys: Text("Several security keys are plugged in. Leave only the one for this keychain.")
        case .unable: Text("This security key cannot open keychains: it lacks the extension hmac-secret of FIDO2.")
        case .notAccessible: Text("The security key cannot be used: the system does not give you access to it.")
        case .unknownKey: Text("The security key that is plugged in does not open this keychain.")
        case .addedAlready: Text("This security key opens the keychain already.")
        case .pinNeeded: Text("This security key works only with its PIN.")
        case .pinNotSet: Text("This security key has no PIN. Set one first, with “fido2-token -S” or your browser.")
        case .wrongPIN(tries: nil): Text("That was not the PIN of the security key.")
        case .wrongPIN(let tries?):
            Text(
                tries,
                one: "That was not the PIN of the security key. One try is left.",
                other: "That was not the PIN of the security key. \(tries) tries are left."
            )
        case .pinPaused: Text("Too many PINs were wrong. Take the security key out and plug it in again.")
        case .pinBlocked:
            Text("The PIN of the security key is blocked. Only a reset of the key helps, which erases it.")
        case .notTouched: Text("Nobody touched the security key.")
        case .takenOut: Text("The security key was taken out.")
        case .cancelled: Text("The security key is no longer asked.")
        case .failed: Text("The security key refused.")
        }
    }
}

/// A system without security keys.
@BusActor
package final class NoSecurityKeys: SecurityKeys {
    package nonisolated init() {}

    package func start(
        _ request: SecurityKeyRequest,
        pin: consuming SecureBytes?,
        notice: @escaping @BusActor (SecurityKeyFailure) -> Void
    ) -> any SecurityKeyOperation {
        Refusal()
    }

    private final class Refusal: SecurityKeyOperation {
        func outcome() async -> SecurityKeyOutcome { .failed(.notInstalled) }
        func takeSecret() -> SecureBytes? { nil }
        func cancel() {}
    }
}
