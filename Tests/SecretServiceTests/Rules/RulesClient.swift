import Foundation
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// A listed rule.
struct ListedRule: Equatable, BusValue {
    let id, origin, text, strength: String
    let uses: UInt32
    let last: UInt64

    static var signature: String { "(ssssut)" }

    init(from reader: inout Reader) throws(BusError) {
        self = try reader.readStructure { (reader) throws(BusError) in
            ListedRule(
                id: try String(from: &reader),
                origin: try String(from: &reader),
                text: try String(from: &reader),
                strength: try String(from: &reader),
                uses: try UInt32(from: &reader),
                last: try UInt64(from: &reader)
            )
        }
    }

    private init(id: String, origin: String, text: String, strength: String, uses: UInt32, last: UInt64) {
        self.id = id
        self.origin = origin
        self.text = text
        self.strength = strength
        self.uses = uses
        self.last = last
    }

    func write(to writer: inout Writer) {}
}

/// What a test of rules says.
struct RuleAnswer: Equatable {
    let action, rule, id, explanation: String
}

extension SecretServiceProxy {
    static let rules = ObjectPath(unchecked: "/org/keychaind/Rules")
    static let rulesInterface = "org.keychaind.Rules1"

    func rules() async throws(BusError) -> [ListedRule] {
        try await call(Self.rules, Self.rulesInterface, "List").read([ListedRule].self)
    }

    func ruleTexts() async throws(BusError) -> [String] { try await rules().map(\.text) }

    /// Adds rules by the prompt, and returns the identifiers.
    @discardableResult
    func addRules(_ rules: String...) async throws -> [String] {
        let prompt = try await call(Self.rules, Self.rulesInterface, "Add", rules).read(ObjectPath.self)
        guard case .strings(let ids) = try await complete(prompt).result else { return [] }
        return ids
    }

    /// The error of adding these; nil if there is none.
    func errorOfAdding(_ rules: [String]) async -> BusError? {
        do throws(BusError) {
            _ = try await call(Self.rules, Self.rulesInterface, "Add", rules)
            return nil
        } catch {
            return error
        }
    }

    func removeRules(_ ids: String...) async throws -> PromptOutcome {
        let prompt = try await call(Self.rules, Self.rulesInterface, "Remove", ids).read(ObjectPath.self)
        return try await complete(prompt)
    }

    func resetRules() async throws -> PromptOutcome {
        try await complete(try await call(Self.rules, Self.rulesInterface, "Reset").read(ObjectPath.self))
    }

    func testRule(_ who: String, _ what: String) async throws(BusError) -> RuleAnswer {
        let (action, rule, id, explanation) = try await call(Self.rules, Self.rulesInterface, "Test", who, what)
            .read(String.self, String.self, String.self, String.self)
        return RuleAnswer(action: action, rule: rule, id: id, explanation: explanation)
    }

    func rulesProblem() async throws(BusError) -> String {
        try await property("Problem", of: Self.rules, Self.rulesInterface)
    }
}

/// The identity of the test's own process in rules.
let ownIdentity = "program:" + ((try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "")
