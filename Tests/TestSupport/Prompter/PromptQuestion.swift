package import DBus

/// A question that a ``FakePrompter`` was asked.
package struct PromptQuestion: Sendable {
    /// `password` or `confirm`.
    package let type: String
    /// The texts and options, such as `title`.
    package let properties: [String: Variant]
    /// The unique name of who asks.
    package let caller: String
    /// The object to call back.
    package let callback: ObjectPath

    /// A property that is a text; nil if it was left out.
    package func text(_ name: String) -> String? {
        guard case .string(let text) = properties[name] else { return nil }
        return text
    }
}
