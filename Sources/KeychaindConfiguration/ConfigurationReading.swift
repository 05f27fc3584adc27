/// A configuration as far as it can be read, with all mistakes.
///
/// A line with a mistake is left out, and the rest is in force. What is left out might have been a lock rule, so that
/// rules lock more often then (docs/decisions/0126-a-mistake-locks-more.md).
package struct ConfigurationReading: Sendable {
    package private(set) var configuration = Configuration()

    /// The mistakes, in the order of their lines.
    package private(set) var mistakes: [Mistake] = []

    /// A mistake, with what applies in its place.
    package struct Mistake: Hashable, Sendable {
        package let error: ConfigurationError
        package let consequence: Consequence
    }

    package enum Consequence: Hashable, Sendable {
        /// The safe or the default value.
        case setting(Setting)
        /// A keychain, or all if nil, locks with the screen, before sleep and at the end of the session, unless another
        /// line says otherwise.
        case lockingMore(keychain: String?)
        /// The line is left out.
        case nothing
    }

    /// The keychains that a left out line may have been about.
    enum Scope: Hashable {
        case all
        case keychain(String)
    }

    /// A file with more mistakes is no configuration.
    private static let mistakeLimit = 32

    package init(of text: [UInt8]) {
        guard text.count <= Configuration.limit else {
            let reason = "a configuration has at most \(Configuration.limit) bytes"
            let error = ConfigurationError(.tooLarge, at: .init(line: 1, column: 1), reason: reason)
            mistakes = [Mistake(error: error, consequence: .lockingMore(keychain: nil))]
            configuration.lockMore(.all)
            return
        }
        var scopes: Set<Scope> = []
        let entries = readEntries(text, &scopes)
        for entry in entries {
            var trial = Configuration()
            do throws(ConfigurationError) {
                try trial.apply(entry)
            } catch {
                if let setting = Configuration.replacement(for: entry) {
                    mistakes.append(Mistake(error: error, consequence: .setting(setting)))
                } else {
                    let scope = Configuration.scope(of: entry)
                    if let scope { scopes.insert(scope) }
                    mistakes.append(Mistake(error: error, consequence: ConfigurationReading.consequence(scope)))
                }
            }
        }
        // First, so that the rules that can be read override it.
        for scope in scopes { configuration.lockMore(scope) }
        for entry in entries { try? configuration.apply(entry) }
        mistakes.sort { ($0.place.line, $0.place.column) < ($1.place.line, $1.place.column) }
    }

    private static func consequence(_ scope: Scope?) -> Consequence {
        switch scope {
        case .all: .lockingMore(keychain: nil)
        case .keychain(let name): .lockingMore(keychain: name)
        case nil: .nothing
        }
    }

    /// The values, without the lines that are no TOML.
    private mutating func readEntries(_ text: [UInt8], _ scopes: inout Set<Scope>) -> [TOMLEntry] {
        var lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
        while mistakes.count < ConfigurationReading.mistakeLimit {
            do throws(ConfigurationError) {
                return try TOMLEntry.parse(Array(lines.joined(separator: [UInt8(ascii: "\n")])))
            } catch {
                let end = min(max(error.place.line, 1), lines.count)
                // The end of a text is noticed after its line.
                guard let index = lines[..<end].lastIndex(where: { !ConfigurationReading.isBlank($0) }) else {
                    mistakes.append(Mistake(error: error, consequence: .lockingMore(keychain: nil)))
                    break
                }
                let scope = ConfigurationReading.scope(ofLine: index, in: lines)
                if let scope { scopes.insert(scope) }
                mistakes.append(Mistake(error: error, consequence: ConfigurationReading.consequence(scope)))
                ConfigurationReading.leaveOut(index, of: &lines)
            }
        }
        scopes.insert(.all)
        return []
    }

    /// Blanks a line; that of a table with all lines of the table, which would belong to the one before.
    private static func leaveOut(_ index: Int, of lines: inout [[UInt8]]) {
        var end = index + 1
        if isHeader(lines[index]) {
            while end < lines.count, !isHeader(lines[end]) { end += 1 }
        }
        for line in index..<end { lines[line] = [] }
    }

    /// The keychains that a line may be about; nil for none.
    private static func scope(ofLine index: Int, in lines: [[UInt8]]) -> Scope? {
        guard !isHeader(lines[index]), let header = lines[..<index].last(where: isHeader) else { return .all }
        guard let entry = try? TOMLEntry.parse(header).first else { return .all }
        return Configuration.scope(of: entry)
    }

    private static func isHeader(_ line: [UInt8]) -> Bool {
        line.first { !isSpace($0) } == UInt8(ascii: "[")
    }

    private static func isBlank(_ line: [UInt8]) -> Bool { line.allSatisfy(isSpace) }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }
}

extension ConfigurationReading.Mistake: CustomStringConvertible {
    package var place: ConfigurationError.Place { error.place }

    package var code: ConfigurationError.Code { error.code }

    /// The place and the reason, in the format of compilers.
    package var description: String { error.description }
}
