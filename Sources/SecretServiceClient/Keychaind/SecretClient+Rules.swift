import KeychaindDBus

/// A rule of keychaind: which program may have what.
package struct ListedRule: Hashable, Sendable {
    /// Empty for a line that keychaind did not understand.
    package let id: String
    /// `user`, `always`, or the file and line of an administrator's rule.
    package let origin: String
    package let text: String
    /// `proven`, `likely`, `said`; empty for a rule about any program, `error` for a line that was not understood.
    package let strength: String
    /// Decisions since the provider's start.
    package let uses: UInt32
    /// In microseconds since 1970; 0 for never.
    package let lastUse: UInt64

    fileprivate init(from reader: inout Reader) throws(BusError) {
        id = try String(from: &reader)
        origin = try String(from: &reader)
        text = try String(from: &reader)
        strength = try String(from: &reader)
        uses = try UInt32(from: &reader)
        lastUse = try UInt64(from: &reader)
    }
}

/// What the rules say about one program and one item.
package struct RuleAnswer: Hashable, Sendable {
    /// `allow`, `notify`, `ask-once`, `ask-always`, `never` or `hide`.
    package let action: String
    /// The rule that decides, and its identifier; empty for none.
    package let rule: String
    package let id: String
    /// The reason, for a person.
    package let explanation: String
}

/// `org.keychaind.Rules1`, an interface of keychaind alone.
extension SecretClient {
    /// All rules, those of administrators first.
    package func rules() async throws(SecretServiceError) -> [ListedRule] {
        let reply = try await call(ProviderInterface.rules.call("List"))
        return try reply.readingStructures { (reader) throws(BusError) in try ListedRule(from: &reader) }
    }

    /// Why the user's rules cannot be read; empty if they can.
    package func ruleProblem() async throws(SecretServiceError) -> String {
        try await property("Problem", of: ProviderInterface.rules.path, ProviderInterface.rules.name)
    }

    /// Adds rules after a person's authentication, and returns their identifiers.
    package func addRules(
        _ rules: [String],
        prompting: SecretPrompting = .shown
    ) async throws(SecretServiceError) -> [String] {
        try await changeRules("Add", rules, prompting)
    }

    /// Removes rules of the user after a person's authentication.
    package func removeRules(_ ids: [String], prompting: SecretPrompting = .shown) async throws(SecretServiceError) {
        _ = try await changeRules("Remove", ids, prompting)
    }

    /// Gives up rules that cannot be read, after a person's authentication; false, without asking, if they can.
    package func resetRules(prompting: SecretPrompting = .shown) async throws(SecretServiceError) -> Bool {
        try await callWithPrompt(ProviderInterface.rules.call("Reset"), prompting) != nil
    }

    private func changeRules(
        _ member: String,
        _ texts: [String],
        _ prompting: SecretPrompting
    ) async throws(SecretServiceError) -> [String] {
        try ArgumentCheck.check(texts)
        let result = try await callWithPrompt(ProviderInterface.rules.call(member, texts), prompting)
        return if case .strings(let ids)? = result { ids } else { [] }
    }

    /// What would be decided, without any effect.
    ///
    /// - Parameters:
    ///   - who: the beginning of a rule, a unique name of the bus, or empty for this program.
    ///   - what: the path of an item, or the end of a rule.
    package func testRules(_ who: String, _ what: String) async throws(SecretServiceError) -> RuleAnswer {
        try ArgumentCheck.check([who, what])
        let (action, rule, id, explanation) = try await call(ProviderInterface.rules.call("Test", who, what))
            .reading(String.self, String.self, String.self, String.self)
        return RuleAnswer(action: action, rule: rule, id: id, explanation: explanation)
    }
}
