import KeychaindDBus
import KeychaindDesktop
import KeychaindModel
import KeychaindRules

/// The rules about one client, found at its first read.
@BusActor
final class ClientRules {
    @BusActor
    final class State {
        let selection: RuleSelection
        /// Nil if the caller cannot be seen, or no longer.
        let caller: RuleCaller?
        /// The caller in the audit.
        let text: String
        let generation: Int
        var looked: ContinuousClock.Instant

        init(
            _ selection: RuleSelection,
            about caller: RuleCaller?,
            text: String,
            generation: Int,
            looked: ContinuousClock.Instant
        ) {
            self.selection = selection
            self.caller = caller
            self.text = text
            self.generation = generation
            self.looked = looked
        }
    }

    var state: State?

    nonisolated init() {}
}

extension Caller {
    /// Whether rules see the caller.
    var isSeenByRules: Bool {
        if case .opaque = insight { false } else { true }
    }

    /// The caller as rules see it; nil if it cannot be seen, or no longer.
    var forRules: RuleCaller? {
        switch insight {
        case .process(let process): process.forRules(evidence.strength, applicationIdentity)
        case .portal(let application):
            RuleCaller(
                [ProgramIdentity(.flatpak, application)].compactMap { identity in
                    identity.map { IdentityClaim($0, evidence.strength, needed: .proven) }
                }
            )
        case .opaque: nil
        }
    }
}

extension CallerProcess {
    /// - Parameters:
    ///   - strength: that of the evidence for the process.
    ///   - application: the identity of a sandboxed application.
    fileprivate func forRules(_ strength: Strength, _ application: String?) -> RuleCaller {
        if sandbox != nil {
            // Paths inside a sandbox do not say what runs in it.
            let identity = application.flatMap { ProgramIdentity($0) }
            return RuleCaller(identity.map { [IdentityClaim($0, strength, needed: .proven)] } ?? [])
        }
        var claims: [IdentityClaim] = []
        if let script, let identity = ProgramIdentity(.script, script) {
            claims.append(IdentityClaim(identity, .said, needed: .said))
        }
        if let program, let identity = ProgramIdentity(.program, program.path) {
            // The path of a file that was deleted, or is in another file system, may be any.
            let isUsers = program.place == .present && !program.isProtected
            claims.append(IdentityClaim(identity, strength, needed: isUsers ? .said : .likely))
        }
        if let unit, let identity = ProgramIdentity(.unit, unit.applicationID ?? unit.name) {
            claims.append(IdentityClaim(identity, .said, needed: .said))
        }
        return RuleCaller(
            claims,
            for: lineage?.principalIdentity.flatMap { ProgramIdentity($0) },
            in: lineage?.placeIdentity.flatMap { ProgramIdentity($0) }
        )
    }
}
