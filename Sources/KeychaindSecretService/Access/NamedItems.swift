import KeychaindDBus
import KeychaindModel
import KeychaindVault

/// Protected items named in the dialog for the password of `login`.
///
/// That password is the passcode: entering it proves the passcode for these items and no others.
@BusActor
final class NamedItems {
    /// The purpose that the dialog shows beside the unlocking.
    let purpose: AuthenticationPurpose

    /// The password given in that dialog.
    let passcode = KeptPassword()

    private let references: Set<ItemReference>

    /// Takes as many items as one dialog can name; nil if there are none.
    init?(_ items: [ProtectedItem], for purpose: ([ProtectedItem]) -> AuthenticationPurpose) {
        guard let named = ItemNames.parts(of: items, name: \.name).first else { return nil }
        self.purpose = purpose(named)
        references = Set(named.map(\.reference))
    }

    func contains(_ item: ProtectedItem) -> Bool {
        references.contains(item.reference)
    }
}
