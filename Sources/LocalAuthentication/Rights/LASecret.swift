public import Foundation

/// The secret of a right.
public final class LASecret: Sendable {
    private let right: LAPersistedRight

    init(of right: LAPersistedRight) {
        self.right = right
    }

    /// Reads it.
    ///
    /// Throws ``LAError/Code/notInteractive`` if the right is not authorised, which the keychain finds and not this object. With
    /// ``LAAuthenticationRequirement/biometryCurrentSet`` the finger is asked for here.
    public func loadData() async throws -> Data {
        try await RightItem(right.identifier).secret(in: right.context)
    }
}
