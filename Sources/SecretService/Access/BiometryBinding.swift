import Authentication
import DBus
import KeychainModel
import Vault

/// Binds items to the set of fingers that is enrolled when they are stored.
///
/// The set is not shown to programs: the attribute that keeps it is a code under a key of the user's.
enum BiometryBinding {
    /// Set by the service alone; what a caller gives under this name is not taken.
    static let attribute = Attributes.reservedPrefix + "biometry-set"

    /// The value of the attribute for a set.
    static func value(for set: BiometrySet, in vault: Vault) throws(VaultError) -> String {
        hexadecimal(try vault.code(of: "biometry set", set.hash))
    }

    /// Puts the right value into attributes that are to be stored, or none if their policy does not speak of enrolled fingers.
    ///
    /// Throws the error of an evaluation if no finger can be matched now: there is nothing to bind to.
    ///
    /// - Parameter kept: the value that stays, where the item is bound already and only its attributes change.
    @BusActor
    static func bind(
        _ attributes: Attributes,
        under policy: Policy?,
        keeping kept: String? = nil,
        to biometry: any Biometry,
        in vault: Vault
    ) async throws(BusError) -> Attributes {
        guard attributes.hasReserved else { return attributes }
        let unbound = attributes.without(attribute)
        guard let policy, policy.factors.contains(.biometryCurrentSet) else { return unbound }
        if let kept { return unbound.with([(attribute, kept)]) }
        let availability = await biometry.availability()
        guard let set = availability.set else {
            throw BusError(
                availability.error ?? AuthenticationError(.biometryNotAvailable, reason: "no finger can be matched")
            )
        }
        do throws(VaultError) {
            return unbound.with([(attribute, try value(for: set, in: vault))])
        } catch {
            throw BusError(error)
        }
    }

    /// Whether an item was bound to a set; not if that cannot be told.
    static func isBound(_ value: String, to set: BiometrySet, in vault: Vault) -> Bool {
        value == (try? self.value(for: set, in: vault))
    }

    /// Bytes in lower-case hexadecimal digits.
    static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
