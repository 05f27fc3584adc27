import KeychaindDBus
import KeychaindDesktop
import KeychaindLanguage
import KeychaindModel
import KeychaindRules
import KeychaindVault

/// The rules on the bus, for the owner of the keychains.
struct RulesObject {
    let provider: Provider
    let client: Client

    /// The D-Bus structure: identifier, origin, text, strength, uses since the start, last use in microseconds.
    private static let signature = "(ssssut)"
    /// The most rules and identifiers in a call.
    private static let limit = StoredRules.limit

    @BusActor static let kind = ObjectKind<RulesObject>([
        Interface(
            InterfaceName.rules,
            methods: [
                Method(suspending: "List", out: [Parameter("rules", signature: "a" + signature)]) {
                    (object, call) async throws(BusError) in
                    try await object.checkUser()
                    try object.list(call)
                },
                Method(
                    suspending: "Add",
                    in: [Parameter("rules", [String].self)],
                    out: [Parameter("prompt", ObjectPath.self)]
                ) { (object, call) async throws(BusError) in
                    try await object.checkUser()
                    var reader = call.message.makeReader()
                    call.reply(with: try object.add(try [String](from: &reader, limit: limit)))
                },
                Method(
                    suspending: "Remove",
                    in: [Parameter("ids", [String].self)],
                    out: [Parameter("prompt", ObjectPath.self)]
                ) { (object, call) async throws(BusError) in
                    try await object.checkUser()
                    var reader = call.message.makeReader()
                    call.reply(with: try object.remove(try [String](from: &reader, limit: limit)))
                },
                Method(suspending: "Reset", out: [Parameter("prompt", ObjectPath.self)]) {
                    (object, call) async throws(BusError) in
                    try await object.checkUser()
                    call.reply(with: try object.reset())
                },
                Method(
                    suspending: "Test",
                    in: [Parameter("who", String.self), Parameter("what", String.self)],
                    out: [
                        Parameter("action", String.self), Parameter("rule", String.self), Parameter("id", String.self),
                        Parameter("explanation", String.self),
                    ]
                ) { (object, call) async throws(BusError) in
                    try await object.checkUser()
                    let (who, what) = try call.arguments(String.self, String.self)
                    let (decision, explanation) = try await object.test(who, what)
                    call.reply(
                        with: decision.action.rawValue,
                        decision.entry?.rule.text ?? "",
                        decision.entry?.id ?? "",
                        explanation
                    )
                },
            ],
            properties: [Property("Problem", String.self, get: { $0.provider.rules.problem ?? "" })],
            signals: [SignalDeclaration("Changed", [])]
        )
    ])

    @BusActor
    private func checkUser() async throws(BusError) {
        try await client.checkUser(orRefuse: "only the owner of the keychains may see and change the rules")
    }

    @BusActor
    private func list(_ call: MethodCall) throws(BusError) {
        let stored = try provider.rules.stored()
        let rules = provider.rules
        call.reply { writer in
            writer.writeArray(of: RulesObject.signature) { writer in
                for entry in rules.administrators.entries { write(entry, to: &writer) }
                for mistake in rules.administrators.mistakes {
                    write("", mistake.place, mistake.text, "error", nil, to: &writer)
                }
                for rule in stored.rules { write(rule.entry, to: &writer) }
            }
        }
    }

    @BusActor
    private func write(_ entry: RuleEntry, to writer: inout Writer) {
        let origin =
            switch entry.origin {
            case .user: "user"
            case .always: "always"
            case .administrator(let place): place
            case .missing: ""
            }
        let strength = entry.rule.programs.strength?.rawValue ?? ""
        write(entry.id, origin, entry.rule.text, strength, provider.rules.uses[entry.id], to: &writer)
    }

    private func write(
        _ id: String,
        _ origin: String,
        _ text: String,
        _ strength: String,
        _ use: ItemRules.Use?,
        to writer: inout Writer
    ) {
        writer.writeStructure { writer in
            for text in [id, origin, text, strength] { text.write(to: &writer) }
            (use?.count ?? 0).write(to: &writer)
            (use?.last.microseconds ?? 0).write(to: &writer)
        }
    }

    // MARK: Changing

    @BusActor
    private func add(_ lines: [String]) throws(BusError) -> ObjectPath {
        var rules: [Rule] = []
        for (index, line) in lines.enumerated() {
            do throws(RuleError) {
                rules.append(try Rule(line))
            } catch {
                throw BusError(.invalidArguments, "rule \(index + 1): \(error.reason)")
            }
        }
        let stored = try provider.rules.stored()
        guard stored.rules.count + rules.count <= StoredRules.limit else {
            throw BusError(.limitsExceeded, "there are at most \(StoredRules.limit) rules")
        }
        return try prompt(.add(rules))
    }

    @BusActor
    private func remove(_ ids: [String]) throws(BusError) -> ObjectPath {
        let stored = try provider.rules.stored()
        let byID = Dictionary(stored.rules.map { ($0.id, $0) }) { $1 }
        var removed: [StoredRule] = []
        for id in ids {
            guard let rule = byID[id] else {
                let isAdministrators = provider.rules.administrators.entries.contains { $0.id == id }
                throw isAdministrators
                    ? BusError(.accessDenied, "an administrator has made the rule \(id)")
                    : BusError(.noSuchObject, "there is no rule \(id)")
            }
            removed.append(rule)
        }
        return try prompt(.remove(removed))
    }

    @BusActor
    private func reset() throws(BusError) -> ObjectPath {
        _ = provider.rules.problem
        guard provider.rules.areUnreadable else { return .root }
        return try prompt(.setAside)
    }

    @BusActor
    private func prompt(_ change: RulePrompt.Change) throws(BusError) -> ObjectPath {
        try client.makePrompt(RulePrompt(change, rules: provider.rules, authenticator: provider.authenticator))
    }

    // MARK: Testing

    @BusActor
    private func test(_ who: String, _ what: String) async throws(BusError) -> (RuleDecision, String) {
        let caller = try await caller(who)
        let decision = provider.rules.test(caller, try subject(what))
        let language = await client.caller().language
        return (decision, language.string(RulesObject.explanation(of: decision, isSeen: caller != nil)))
    }

    /// The caller that a test is about; nil for one that cannot be seen.
    @BusActor
    private func caller(_ who: String) async throws(BusError) -> RuleCaller? {
        if who.isEmpty { return await client.caller().forRules }
        if who.hasPrefix(":") {
            guard let other = provider.clients.all.first(where: { $0.name == who }) else {
                throw BusError(.noSuchObject, "\(who) has not called the service")
            }
            return await other.caller().forRules
        }
        do throws(RuleError) {
            return RuleCaller(testing: try RulePrograms(who))
        } catch {
            throw BusError(.invalidArguments, error.reason)
        }
    }

    @BusActor
    private func subject(_ what: String) throws(BusError) -> RuleSubject {
        if what.hasPrefix("/") {
            guard let (collection, id) = provider.vault.findItem(ObjectPath(unchecked: what)) else {
                throw BusError(.noSuchObject, "there is no item at \(what)")
            }
            return RuleSubject(id, in: collection.name, with: collection.item(id)?.attributes ?? [:])
        }
        do throws(RuleError) {
            let items = try RuleItems(what)
            if let path = items.item, let (collection, id) = provider.vault.findItem(ObjectPath(unchecked: path.text)) {
                return RuleSubject(id, in: collection.name, with: collection.item(id)?.attributes ?? [:])
            }
            return RuleSubject(items.item, in: items.collection ?? items.item?.collection, with: items.attributes)
        } catch {
            throw BusError(.invalidArguments, error.reason)
        }
    }

    private static func explanation(of decision: RuleDecision, isSeen: Bool) -> Text {
        let unseen = isSeen ? Text.empty : Text("The program cannot be seen, so it counts as any.")
        guard let entry = decision.entry else {
            return .joined([unseen, Text("No rule is about this program and this item, so nothing changes.")])
        }
        let reason =
            switch entry.origin {
            case .missing:
                Text("There are rules that cannot be read, so a person is asked.")
            case .administrator(let place):
                // Translators: a file and a line in it
                Text("A rule of an administrator decides, in \(PromptText.name(place, limit: 300)).")
            case .always:
                Text("A person has chosen “Always for This Program” for this item.")
            case .user:
                Text("This rule says more about the program and the item than others, or is stricter.")
            }
        return .joined([unseen, reason, entry.rule.programs.strength?.words ?? .empty])
    }
}

extension RuleCaller {
    /// The program that a person writes into a test, with good evidence.
    init(testing programs: RulePrograms) {
        func identity(_ pattern: RulePrograms.Pattern?) -> ProgramIdentity? {
            if case .identity(let identity) = pattern { identity } else { nil }
        }
        let own = identity(programs.helper == nil ? programs.program : programs.helper)
        let claims = own.map { [IdentityClaim($0, $0.kind.strength, needed: $0.kind.strength)] } ?? []
        self.init(claims, for: programs.helper == nil ? nil : identity(programs.program), in: identity(programs.place))
    }
}
