import KeychaindDBus
import KeychaindVault

/// The state, besides that of the items, that a client's access depends on.
///
/// While it is the same, so is the access to unchanged items, except for grants that expire.
@BusActor
struct AccessConditions {
    private let isSessionLocked: Bool
    private let view: ClientView
    private let lockChanges: UInt64
    /// Nil if there are none.
    private let rules: Rules?

    private struct Rules {
        let generation: Int
        let forgettings: Int
        /// Another one once a rule has ended, or the caller has become another program.
        let state: ClientRules.State
    }

    init(for client: Client, _ access: ItemAccess) {
        isSessionLocked = access.isSessionLocked
        view = client.view
        lockChanges = client.lockChanges
        guard access.rules.isActive else {
            rules = nil
            return
        }
        // May read more rules.
        let state = access.rules.selection(for: client)
        rules = Rules(generation: access.rules.generation, forgettings: access.rules.forgettings, state: state)
    }

    func hold(for client: Client, _ access: ItemAccess) -> Bool {
        let current = AccessConditions(for: client, access)
        guard isSessionLocked == current.isSessionLocked, lockChanges == current.lockChanges else { return false }
        switch (rules, current.rules) {
        case (nil, nil):
            return view.isSame(as: current.view)
        case (let rules?, let others?):
            // What rules share with a sandbox may also end with time.
            return !view.isConfined && !current.view.isConfined && rules.generation == others.generation
                && rules.forgettings == others.forgettings && rules.state === others.state
        case (nil, _?), (_?, nil):
            return false
        }
    }
}

extension ClientView {
    fileprivate func isSame(as other: ClientView) -> Bool {
        switch (self, other) {
        case (.everything, .everything): true
        case (.own(let view), .own(let otherView)): view === otherView
        default: false
        }
    }
}
