import DBus
import KeychainModel
import Vault

/// Protected items that the dialog for the password of `login` names.
///
/// That password is the passcode: with it a person has proved, for these items and no others, what they ask for of it.
@BusActor
final class NamedItems {
    /// What the dialog says beside that the keychain is to be unlocked.
    let purpose: AuthenticationPurpose

    /// The password, once it was given in that dialog.
    let passcode = GivenPasscode()

    private let references: Set<ItemReference>

    /// Takes as many of the items as one dialog can name; nil if there are none.
    init?(_ items: [ProtectedItem], for purpose: ([ProtectedItem]) -> AuthenticationPurpose) {
        guard let named = ItemNames.parts(of: items, label: \.label).first else { return nil }
        self.purpose = purpose(named)
        references = Set(named.map(\.reference))
    }

    /// Whether the dialog names an item.
    func contains(_ item: ProtectedItem) -> Bool {
        references.contains(item.reference)
    }
}
