import KeychaindGcrypt
import KeychaindModel
import KeychaindVault

extension Attributes {
    /// Returns the attributes of an item with an access control.
    static func protected(
        _ accessControl: String,
        _ service: String = "bank",
        accessible: Accessibility? = nil
    ) -> Attributes {
        let attributes: Attributes = ["service": service, "keychain:access-control": accessControl]
        return accessible.map { attributes.setting("keychain:accessible", to: $0.rawValue) } ?? attributes
    }
}

extension Collection {
    /// Creates an item with an access control.
    @discardableResult
    func protect(
        _ accessControl: String,
        _ service: String = "bank",
        secret: String = "secret",
        applicationPassword: String? = nil
    ) async throws -> ItemID {
        try await createItem(
            label: "label",
            attributes: .protected(accessControl, service),
            secret: Fixture.secret(secret),
            replacing: false,
            applicationPassword: Fixture.optionalBytes(applicationPassword)
        ).id
    }

    /// Returns the secret of an item with an item key.
    func content(of id: ItemID, with key: ItemKey) async throws -> [UInt8] {
        try await storedSecret(of: id, with: key).content
    }

    /// Returns the item key for the given factors.
    func key(
        of id: ItemID,
        in vault: Vault,
        passcode: String? = nil,
        applicationPassword: String? = nil
    ) async throws -> ItemKey {
        var passcodeKey: PasscodeKey?
        if let passcode {
            passcodeKey = try await vault.verifyPasscode(Fixture.bytes(passcode))
        }
        return try await itemKey(
            of: id,
            passcode: passcodeKey,
            applicationPassword: Fixture.optionalBytes(applicationPassword)
        )
    }
}

extension Fixture {
    /// Returns an optional password.
    static func optionalBytes(_ text: String?) throws -> SecureBytes? {
        guard let text else { return nil }
        return try bytes(text)
    }
}

extension VaultError {
    /// Returns an error with a code, for comparisons.
    static func of(_ code: VaultError.Code) -> VaultError {
        VaultError(code, reason: "")
    }
}
