package import KeychainModel

/// What a stored item says about who may have it.
package enum ItemProtection: Equatable, Sendable {
    /// Nothing: whoever may use the collection may have it.
    case none

    /// What its reserved attributes say; they may set an accessibility and no access control.
    case stated(Protection)

    /// Something that this version does not understand: it is released to nobody, and can be deleted.
    case unknown(reason: String)

    /// Reads the attributes of an item.
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

    /// Whether somebody has to be authenticated before the item is read, changed or deleted.
    package var needsAuthentication: Bool {
        switch self {
        case .none: false
        case .stated(let protection): protection.accessControl != nil
        case .unknown: true
        }
    }

    /// What has to be proved; nil when nothing has, and when it is not known.
    package var policy: Policy? {
        if case .stated(let protection) = self { protection.policy } else { nil }
    }

    /// What of each alternative gives key material; nil when the item is sealed under the collection's key alone.
    var keyAlternatives: [FactorSet]? { policy?.keyAlternatives }
}
