package import KeychaindGcrypt
package import KeychaindModel
import Logging

extension Vault {
    /// Whether `login` exists.
    package var hasPasscode: Bool { collection(named: .login)?.header?.hasPassword ?? false }

    /// Verifies a passcode, the password of `login`, and returns its key.
    ///
    /// Throws `wrongPassword`, `emptyPassword`, `passcodeNotSet`, and `unreadable` for an invalid key slot.
    package func verifyPasscode(_ passcode: consuming SecureBytes) async throws(VaultError) -> PasscodeKey {
        guard let context, let login = self.collection(named: .login) else { throw VaultError.vaultClosed }
        try context.configuration.limits.check(password: passcode)
        guard let header = login.header else {
            throw VaultError(.passcodeNotSet, reason: "the login keychain has no password")
        }
        let password = Handoff(passcode)
        return try await context.derivations.perform { () throws(VaultError) in
            guard let password = password.take() else { throw VaultError.vaultClosed }
            guard let master = try header.master(password: password) else {
                throw VaultError(.wrongPassword, reason: "the passcode is wrong")
            }
            return try PasscodeKey(master: master, login: header.identifier)
        }
    }

    /// Removes the items of the collection in memory that went with a deleted `login`.
    func removeItemsBoundToPasscode() async {
        for bound in itemsBoundToPasscode where bound.collection.isEphemeral {
            do throws(VaultError) {
                try await bound.collection.deleteItem(bound.item, authenticated: true)
            } catch {
                context?.configuration.logger.warning("\(bound.collection.name): an item stays: \(error)")
            }
        }
    }

    /// The items that are deleted with `login`; also found while it is locked.
    package var itemsBoundToPasscode: [(collection: Collection, item: ItemID)] {
        collections.filter { collection in collection.name == .login || collection.isEphemeral }.flatMap { collection in
            collection.search(Collection.boundToPasscode).map { item in (collection, item) }
        }
    }
}

extension Collection {
    static let boundToPasscode: Attributes = [
        ReservedAttribute.accessible.rawValue: Accessibility.whenPasscodeSetThisDeviceOnly.rawValue
    ]
}

/// The private key of protected items, from a verified passcode.
///
/// In locked memory, wiped with the last reference. Release it once the item keys are unwrapped.
package final class PasscodeKey: Sendable {
    // Never nil; optional so that it can be borrowed as an optional.
    let pair: X25519?

    /// The identifier of `login`.
    let login: [UInt8]

    init(master: borrowing SecureBytes, login: [UInt8]) throws(VaultError) {
        do throws(GcryptError) {
            pair = try X25519(privateKey: KeyPurpose.passcode.derive(from: master, collection: login))
        } catch {
            throw VaultError(error)
        }
        self.login = login
    }
}
