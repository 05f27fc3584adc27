import KeychaindLanguage
import KeychaindModel
import KeychaindVault

/// The loss when `login` is deleted: its items, and with the passcode the items elsewhere that need it.
struct LoginLoss: Equatable {
    private let items: Int
    /// The number of protected ones; nil while it is unknown.
    private let protected: Int?
    /// The number of protected items of other keychains that need the passcode.
    private let dependents: Int
    /// The labels of the items that are deleted with the passcode.
    private let bound: [String]

    init(of login: Collection, in vault: Vault) {
        items = login.itemCount
        let isUnread = login.itemIDs.contains { login.item($0)?.condition == .unread }
        protected = isUnread ? nil : login.protectedItemCount
        dependents = vault.collections.filter { $0 !== login && $0.hasProtectedItems }.reduce(0) { count, other in
            count + other.itemIDs.count { other.protection(of: $0).policy?.factors.contains(.passcode) == true }
        }
        bound = vault.itemsBoundToPasscode.map { $0.collection.item($0.item)?.label ?? "" }
    }

    /// The loss, as described in a dialog.
    var text: Text {
        var sentences = [Text("It cannot be brought back.")]
        if items > 0 { sentences.append(itemsText) }
        if dependents > 0 {
            sentences.append(
                Text(
                    """
                    Protected items in other keychains that ask for its password: \(dependents). It will not open them \
                    any more.
                    """
                )
            )
        }
        if !bound.isEmpty {
            sentences.append(
                Text(
                    """
                    Its password is the passcode. These exist only as long as there is one, and are deleted, too: \
                    \(ItemNames.summary(bound))
                    """
                )
            )
        }
        return .lines(sentences)
    }

    private var itemsText: Text {
        switch protected {
        case nil:
            Text("Items that are lost: \(items). How many of them are protected is not known while it is locked.")
        case 0?:
            Text("Items that are lost: \(items).")
        case let count?:
            // Translators: two numbers of items
            Text("Items that are lost: \(items), \(count) of them protected.")
        }
    }
}
