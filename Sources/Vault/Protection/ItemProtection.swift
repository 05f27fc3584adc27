package import KeychainModel

/// The protection of a stored item.
package enum ItemProtection: Equatable, Sendable {
    /// None: whoever may use the collection may use the item.
    case none

    /// The reserved attributes; possibly an accessibility without an access control.
    case stated(Protection)

    /// An unknown protection: the item is never released, but can be deleted.
    case unknown(reason: String)

    /// Parses the attributes of an item.
    init(of attributes: Attributes) {
        guard attributes.hasReserved else {
            self = .none
            return
        }
        do throws(AccessControlError) {
            self = try Protection(of: attributes).map(ItemProtection.stated) ?? .none
        } catch {
            self = .unknown(reason: error.reason)
        }
    }

    /// Whether reading, changing or deleting the item needs authentication.
    package var needsAuthentication: Bool {
        switch self {
        case .none: false
        case .stated(let protection): protection.accessControl != nil
        case .unknown: true
        }
    }

    /// The policy; nil when there is none or it is unknown.
    package var policy: Policy? {
        if case .stated(let protection) = self { protection.policy } else { nil }
    }

    /// The factors with key material in each alternative; nil when the secrets key alone seals the item.
    var keyAlternatives: [FactorSet]? { policy?.keyAlternatives }
}
