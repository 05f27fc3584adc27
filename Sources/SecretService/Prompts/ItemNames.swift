import Desktop

/// The names of items in a dialog.
///
/// Labels come from programs, and there may be any number of them: each is cleaned and cut.
enum ItemNames {
    /// How many bytes a name may have, and all in one headline: so much is shown by every prompter.
    private static let nameBytes = 100
    private static let listBytes = 300

    /// How many are named where not all have to be.
    private static let summaryCount = 8

    /// All names in a row, each in quotation marks.
    static func list(_ labels: [String]) -> String {
        labels.map(name).joined(separator: separator)
    }

    /// The first names, and how many there are beside them.
    static func summary(_ labels: [String]) -> String {
        let rest = labels.count - summaryCount
        return list(Array(labels.prefix(summaryCount))) + (rest > 0 ? " and \(rest) more" : "")
    }

    /// Cuts items into parts, in order, each of at least one and of as many as one dialog can name.
    static func parts<Item>(of items: [Item], label: (Item) -> String) -> [[Item]] {
        var parts: [[Item]] = []
        var room = 0
        for item in items {
            let count = name(label(item)).utf8.count + separator.utf8.count
            if parts.isEmpty || count > room {
                parts.append([])
                room = listBytes
            }
            parts[parts.count - 1].append(item)
            room -= count
        }
        return parts
    }

    private static let separator = ", "

    private static func name(_ label: String) -> String {
        let name = PromptText.prefix(of: PromptText.name(label), bytes: nameBytes)
        return name.isEmpty ? "an item without a name" : "“\(name)”"
    }
}
