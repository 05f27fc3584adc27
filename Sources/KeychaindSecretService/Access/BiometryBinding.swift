import KeychaindAuthentication
import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// Binds items to the fingers that are enrolled when they are stored.
///
/// Programs never see the set: the attribute holds a code under a key of the user.
enum BiometryBinding {
    /// Set by the service alone; values from callers are dropped.
    static let attribute = Attributes.reservedPrefix + "biometry-set"

    static func value(for set: BiometrySet, in vault: Vault) throws(VaultError) -> String {
        try vault.code(of: "biometry set", set.hash).hexadecimal()
    }

    /// Sets the attribute if the policy requires the enrolled fingers, and removes it otherwise.
    ///
    /// Throws the error of an evaluation if no finger can be matched now.
    ///
    /// - Parameter kept: the present value, which stays if only the attributes of a bound item change.
    @BusActor
    static func bind(
        _ attributes: Attributes,
        under policy: Policy?,
        keeping kept: String? = nil,
        to biometry: any Biometry,
        in vault: Vault
    ) async throws(BusError) -> Attributes {
        let unbound = unbound(attributes)
        guard let policy, policy.factors.contains(.biometryCurrentSet) else { return unbound }
        if let kept { return unbound.setting(attribute, to: kept) }
        let availability = await biometry.availability()
        guard let set = availability.set else {
            throw BusError(
                availability.error ?? AuthenticationError(.biometryNotAvailable, reason: "no finger can be matched")
            )
        }
        return try translatingErrors { () throws(VaultError) in
            unbound.setting(attribute, to: try value(for: set, in: vault))
        }
    }

    static func unbound(_ attributes: Attributes) -> Attributes {
        attributes.hasReserved ? attributes.setting(attribute, to: nil) : attributes
    }

    /// Whether an item is bound to a set; false if that cannot be determined.
    static func isBound(_ value: String, to set: BiometrySet, in vault: Vault) -> Bool {
        value == (try? self.value(for: set, in: vault))
    }
}
