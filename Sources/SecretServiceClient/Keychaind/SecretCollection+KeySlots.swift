import KeychaindDBus

/// A way to open a keychain of keychaind.
package struct KeySlot: Hashable, Sendable {
    package let number: UInt64
    /// `password`, `recovery-key`, `host`, `security-key`, `login`, `passcode` or `unknown`.
    package let kind: String
    /// In seconds since 1970; 0 if unknown.
    package let made: UInt64
    package let label: String

    fileprivate init(from reader: inout Reader) throws(BusError) {
        number = try UInt64(from: &reader)
        kind = try String(from: &reader)
        made = try UInt64(from: &reader)
        label = try String(from: &reader)
    }
}

/// `org.keychaind.KeySlots1`, an interface of keychaind alone.
extension SecretCollection {
    /// A new way to open a keychain.
    package enum NewKeySlot: String, Sendable {
        case password = "AddPassword"
        /// A dialog shows it once.
        case recoveryKey = "AddRecoveryKey"
        /// This computer, by its TPM.
        case host = "AddHost"
        /// The login keychain, which opens the other together with itself.
        case login = "AddLogin"
    }

    private func keySlots<each Value: BusValue>(_ member: String, _ arguments: repeat each Value) -> Message {
        Protocol.call(objectPath, "org.keychaind.KeySlots1", member, repeat each arguments)
    }

    package func keySlots() async throws(SecretServiceError) -> [KeySlot] {
        let reply = try await client.call(keySlots("List"))
        return try reply.readingStructures { (reader) throws(BusError) in try KeySlot(from: &reader) }
    }

    /// Adds a key slot; a person is asked for the password of the keychain.
    package func addKeySlot(_ slot: NewKeySlot, label: String) async throws(SecretServiceError) {
        try ArgumentCheck.check(label)
        _ = try await client.callWithPrompt(keySlots(slot.rawValue, label))
    }

    /// Adds the security key (FIDO2) that is plugged in; a person is asked for the password of the keychain, for the
    /// PIN of a key that has one, and for two touches.
    ///
    /// Throws ``SecretServiceError/Code/notSupported``, with the reason, for a key that cannot be added.
    ///
    /// - Parameter needsPIN: whether the key opens the keychain only with its PIN.
    package func addSecurityKey(needsPIN: Bool, label: String) async throws(SecretServiceError) {
        try ArgumentCheck.check(label)
        _ = try await client.callWithPrompt(keySlots("AddSecurityKey", label, needsPIN))
    }

    /// Adds a recovery key, which a dialog shows once; a person is asked for the password.
    package func addRecoveryKey(label: String) async throws(SecretServiceError) {
        try await addKeySlot(.recoveryKey, label: label)
    }

    /// Removes a key slot; a person is asked for the password of the keychain.
    package func removeKeySlot(_ number: UInt64) async throws(SecretServiceError) {
        _ = try await client.callWithPrompt(keySlots("Remove", number))
    }

    /// Has a person change the password; an interface of gnome-keyring that keychaind has, too.
    package func changePassword() async throws(SecretServiceError) {
        _ = try await client.callWithPrompt(ProviderInterface.passwords.call("ChangeWithPrompt", objectPath))
    }
}
