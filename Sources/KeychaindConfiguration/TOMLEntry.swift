import CKeychaindTOML

/// A value of a TOML document, with the names of its tables and its place.
struct TOMLEntry {
    /// A value of a type that settings have, or `other`.
    enum Value {
        case boolean(Bool)
        case integer(Int64)
        case text(String)
        case texts([String])
        case emptyTable
        case other
    }

    let keys: [String]
    let value: Value
    let keyPlace: ConfigurationError.Place
    let valuePlace: ConfigurationError.Place

    private final class Collector {
        var entries: [TOMLEntry] = []
        var failure: ConfigurationError?
    }

    /// Parses a document into its values, ordered by name; throws the first syntax error.
    static func parse(_ text: [UInt8]) throws(ConfigurationError) -> [TOMLEntry] {
        let collector = Collector()
        text.withUnsafeBytes { text in
            keychaind_toml_parse(
                text.baseAddress?.assumingMemoryBound(to: CChar.self),
                text.count,
                Unmanaged.passUnretained(collector).toOpaque(),
                { context, value in TOMLEntry.collector(context).entries.append(TOMLEntry(value!.pointee)) },
                { context, failure in
                    TOMLEntry.collector(context).failure = ConfigurationError(
                        .syntax,
                        at: TOMLEntry.place(failure!.pointee.line, failure!.pointee.column),
                        reason: String(cString: failure!.pointee.message)
                    )
                }
            )
        }
        if let failure = collector.failure { throw failure }
        return collector.entries
    }

    private static func collector(_ context: UnsafeMutableRawPointer?) -> Collector {
        Unmanaged<Collector>.fromOpaque(context!).takeUnretainedValue()
    }

    private static func place(_ line: UInt32, _ column: UInt32) -> ConfigurationError.Place {
        ConfigurationError.Place(line: Int(line), column: Int(column))
    }

    private init(_ raw: keychaind_toml_value) {
        keys = UnsafeBufferPointer(start: raw.keys, count: raw.key_count).map { String(cString: $0!) }
        value =
            switch raw.kind {
            case keychaind_toml_boolean: .boolean(raw.number != 0)
            case keychaind_toml_integer: .integer(raw.number)
            case keychaind_toml_text: .text(String(cString: raw.text))
            case keychaind_toml_texts:
                .texts(UnsafeBufferPointer(start: raw.texts, count: raw.text_count).map { String(cString: $0!) })
            case keychaind_toml_empty_table: .emptyTable
            default: .other
            }
        keyPlace = TOMLEntry.place(raw.key_line, raw.key_column)
        valuePlace = TOMLEntry.place(raw.line, raw.column)
    }

    // MARK: Values

    private var name: String { keys.joined(separator: ".") }

    var unknownName: ConfigurationError {
        ConfigurationError(.unknownName, at: keyPlace, reason: "unknown setting '\(name)'")
    }

    func flag() throws(ConfigurationError) -> Bool {
        guard case .boolean(let flag) = value else { throw wrongType("true or false") }
        return flag
    }

    func number(in range: ClosedRange<Int64>) throws(ConfigurationError) -> Int64 {
        guard case .integer(let number) = value else { throw wrongType("an integer") }
        guard range.contains(number) else {
            throw ConfigurationError(
                .outOfRange,
                at: valuePlace,
                reason: "'\(name)' must be from \(range.lowerBound) to \(range.upperBound)"
            )
        }
        return number
    }

    func text(startingWith prefixes: [String]) throws(ConfigurationError) -> String {
        guard case .text(let text) = value else { throw wrongType("a string") }
        guard prefixes.contains(where: text.hasPrefix) else {
            throw ConfigurationError(
                .outOfRange,
                at: valuePlace,
                reason: "'\(name)' must begin with \(prefixes.joined(separator: " or "))"
            )
        }
        return text
    }

    /// The names of programs: `"*"` for all of them, file names, or absolute paths.
    func programs(limit: Int) throws(ConfigurationError) -> [String] {
        let names: [String]
        switch value {
        case .text("*"): names = ["*"]
        case .texts(let texts): names = texts
        default: throw wrongType("a list of programs in quotation marks, or \"*\"")
        }
        guard names.count <= limit, names.allSatisfy({ !$0.isEmpty && ($0.first == "/" || !$0.contains("/")) }) else {
            throw ConfigurationError(
                .outOfRange,
                at: valuePlace,
                reason: "'\(name)' must have names of programs or absolute paths, at most \(limit)"
            )
        }
        return names
    }

    /// Accepts an empty table; throws for any other value.
    func expectTable() throws(ConfigurationError) {
        guard case .emptyTable = value else { throw wrongType("a table") }
    }

    private func wrongType(_ expected: String) -> ConfigurationError {
        ConfigurationError(.wrongType, at: valuePlace, reason: "'\(name)' must be \(expected)")
    }
}
