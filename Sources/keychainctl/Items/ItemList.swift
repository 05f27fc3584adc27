import KeychaindCommandLine
import KeychaindGcrypt
import SecretServiceClient

/// Items as a table, lines or JSON.
///
/// With secrets each item is a line of its own, never a row of a table: nothing of a secret is cut off or measured.
final class ItemList {
    private(set) var count = 0
    private let output: Output
    private let table: Table?
    private let isJSON: Bool

    init(to output: Output, isJSON: Bool, withSecrets: Bool) {
        self.output = output
        self.isJSON = isJSON
        table = isJSON || withSecrets ? nil : Table(ListedItem.titles, to: output)
    }

    func add(_ item: ListedItem) throws(CommandFailure) {
        try begin()
        if let table { return try table.add(item.row) }
        try output.text(isJSON ? "{\(item.json)}" : item.row.joined(separator: "\t") + "\n")
    }

    /// Adds an item with its secret, written as a JSON string in either form.
    func add(_ item: ListedItem, _ secret: borrowing Secret) throws(CommandFailure) {
        try begin()
        try output.text(isJSON ? "{\(item.json), " : item.row.joined(separator: "\t") + "\t")
        try output.json(secret, isMember: isJSON)
        try output.text(isJSON ? "}" : "\n")
    }

    private func begin() throws(CommandFailure) {
        if isJSON { try output.text(count == 0 ? "[\n" : ",\n") }
        count += 1
    }

    func finish() throws(CommandFailure) {
        if isJSON { try output.text(count == 0 ? "[]\n" : "\n]\n") }
        if let table { try table.finish() }
        try output.flush()
    }
}

extension Output {
    /// Writes a secret as ``JSON/append(_:isMember:to:)`` says.
    func json(_ secret: borrowing Secret, isMember: Bool) throws(CommandFailure) {
        var text: [UInt8] = []
        defer { text.withUnsafeMutableBytes { wipe($0) } }
        JSON.append(secret, isMember: isMember, to: &text)
        try text.span.withUnsafeBytes { (bytes) throws(CommandFailure) in try self.secret(bytes) }
    }
}
