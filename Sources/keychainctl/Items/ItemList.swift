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
        table = isJSON || withSecrets ? nil : Table(FoundItem.titles, to: output)
    }

    func add(_ item: FoundItem) throws(CommandFailure) {
        try begin()
        if let table { return try table.add(item.row) }
        try output.text(isJSON ? "{\(item.json)}" : item.row.joined(separator: "\t") + "\n")
    }

    /// Adds an item with its secret, written as a JSON string in either form.
    func add(_ item: FoundItem, _ secret: borrowing Secret) throws(CommandFailure) {
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
    /// Writes a secret as a JSON string: text as it is, other bytes in base 64.
    ///
    /// - Parameter isMember: whether the name of the member comes first, `secret` or `secret-base64`.
    func json(_ secret: borrowing Secret, isMember: Bool) throws(CommandFailure) {
        var text: [UInt8] = []
        // The array never grows, which would leave a copy.
        text.reserveCapacity(secret.count * 6 + 64)
        defer { text.withUnsafeMutableBytes { wipe($0) } }
        secret.withUnsafeBytes { bytes in
            if UTF8Check.isValid(bytes) {
                if isMember { text += Array("\"secret\": ".utf8) }
                JSON.append(bytes, to: &text)
            } else {
                text += Array((isMember ? "\"secret-base64\": \"" : "\"base64:").utf8)
                JSON.append(base64: bytes, to: &text)
                text.append(UInt8(ascii: "\""))
            }
        }
        try text.span.withUnsafeBytes { (bytes) throws(CommandFailure) in try self.secret(bytes) }
    }
}
