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

    /// - Parameter items: as many as one dialog can name; nil if there are none.
    init?(_ items: [ProtectedItem], for purpose: ([ProtectedItem]) -> AuthenticationPurpose) {
        guard !items.isEmpty else { return nil }
        self.purpose = purpose(items)
        references = Set(items.map(\.reference))
    }

    func contains(_ item: ProtectedItem) -> Bool {
        references.contains(item.reference)
    }
}
