import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindLanguage
import KeychaindModel
import KeychaindRules
import KeychaindVault
import Logging

/// "Always for This Program": what dialogs offer to programs with proven identity
/// (docs/decisions/0138-always-is-for-one-item-of-a-proven-program.md).
@BusActor
struct AlwaysOffer {
    private let identity: ProgramIdentity
    private let caller: Caller

    /// Nil if a rule about the program would not protect from others.
    init?(to caller: Caller) {
        guard let claim = caller.forRules?.main, claim.strength == .proven, claim.identity.kind.strength == .proven
        else {
            return nil
        }
        identity = claim.identity
        self.caller = caller
    }

    /// Nil if a rule could not stand in for the access control of each item, since some open by a password only.
    init?(to caller: Caller, of items: [ProtectedItem]) {
        guard !items.contains(where: { $0.collection.needsItemKey($0.id) }) else { return nil }
        self.init(to: caller)
    }

    static let choice = PromptRequest.Choice(
        label: Text("Always for This Program"),
        explanation: Text(
            """
            With “Always for This Program”, you are not asked about this any more. No other program in a sandbox can \
            pass for it; one outside of sandboxes could.
            """
        )
    )

    /// Makes the rules that the person has chosen, for items that are as the dialog named them.
    func accept(for items: [ProtectedItem], by authenticator: Authenticator) async {
        let made = items.compactMap { item -> (rule: Rule, binding: StoredRule.Binding)? in
            guard item.collection.revision(of: item.id) == item.revision,
                let binding = ItemRules.binding(of: item.id, in: item.collection)
            else { return nil }
            let path = RuleItems.ItemPath(item.id, in: item.collection.name)
            return (Rule(.allow, RulePrograms(.identity(identity)), RuleItems(path)), binding)
        }
        do throws(BusError) {
            try await authenticator.access.rules.change { stored in
                for (rule, binding) in made { _ = stored.add([rule], binding: binding) }
            }
            authenticator.audit.rulesChanged(made.map(\.rule.text), by: caller)
        } catch {
            authenticator.logger.error("A rule could not be stored", metadata: ["reason": "\(error.message)"])
        }
    }
}
