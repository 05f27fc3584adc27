import Authentication

/// The names of items in a dialog.
///
/// Labels come from programs, and there may be any number of them: each is cleaned and cut, and of many only the first are named.
enum ItemNames {
    /// How many are named.
    private static let limit = 8

    /// The names in a row, each in quotation marks.
    static func list(_ labels: [String]) -> String {
        let names = labels.prefix(limit).map { label in
            let name = PromptText.name(label)
            return name.isEmpty ? "an item without a name" : "“\(name)”"
        }
        let rest = labels.count - names.count
        return names.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
    }
}
