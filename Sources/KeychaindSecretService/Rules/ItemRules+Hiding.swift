import KeychaindModel
import KeychaindRules
import KeychaindVault

/// The items that do not exist for a client by a rule.
extension ItemRules {
    /// Whether rules hide items from a client.
    func hidesItems(from client: Client) -> Bool {
        guard hidesItems else { return false }
        // A selection without the caller would stand for it in its first call, which waits for it. Until then, nothing
        // is shown.
        return awaitsCaller(of: client) || selection(for: client).selection.hidesItems
    }

    /// Whether rules hide an item from a client.
    func hides(_ id: ItemID, in collection: Collection, from client: Client) -> Bool {
        guard hidesItems(from: client) else { return false }
        return awaitsCaller(of: client) || decision(on: id, in: collection, for: client).action == .hide
    }

    /// Whether rules would hide a described item from a client.
    func hides(_ subject: RuleSubject, from client: Client) -> Bool {
        hidesItems(from: client) && selection(for: client).selection.decision(on: subject).action == .hide
    }
}
