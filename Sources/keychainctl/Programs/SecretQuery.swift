import ArgumentParser
import KeychaindCommandLine

/// A secret under a name, such as `TOKEN=service=gh:github.com user=anna`.
struct SecretQuery: Sendable {
    let name: String
    let query: ItemSelection

    /// Reads `NAME=QUERY`: attributes separated by spaces, `label:TEXT` or `id:PLACE`.
    init(_ text: String) throws {
        guard let sign = text.firstIndex(of: "="), sign != text.startIndex else {
            throw ValidationError("“\(text.visible)” names no item: write NAME=ATTRIBUTE=VALUE")
        }
        name = String(text[..<sign])
        let words = String(text[text.index(after: sign)...])
        if words.hasPrefix("label:") {
            query = ItemSelection(label: String(words.dropFirst(6)))
        } else if words.hasPrefix("id:") {
            query = ItemSelection(id: String(words.dropFirst(3)))
        } else {
            query = ItemSelection(attributes: try ItemSelection.attributes(Self.attributes(words)))
        }
    }

    /// A word without an equals sign belongs to the value before it.
    private static func attributes(_ words: String) -> [String] {
        var attributes: [String] = []
        for word in words.split(separator: " ", omittingEmptySubsequences: false) {
            if word.contains("=") || attributes.isEmpty {
                attributes.append(String(word))
            } else {
                attributes[attributes.count - 1] += " " + word
            }
        }
        return attributes
    }
}
