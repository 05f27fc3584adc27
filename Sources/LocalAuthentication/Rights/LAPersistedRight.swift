/// A right that the keychain keeps, with a secret that it gives out only while the right is authorised.
public final class LAPersistedRight: LARight, @unchecked Sendable {
    // All that it has beside its superclass's, and never changed: so it is Sendable like that.

    /// What the right was saved under.
    let identifier: String

    init(_ identifier: String, _ requirement: LAAuthenticationRequirement) {
        self.identifier = identifier
        super.init(requirement: requirement)
    }

    /// The secret that was saved with it.
    public var secret: LASecret { LASecret(of: self) }
}
