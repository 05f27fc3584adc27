/// A file of PAM.
///
/// Everything but the changed lines stays as it is, byte for byte.
struct LoginFile {
    /// What a line has PAM do.
    struct Rule {
        enum Target {
            case module(String)
            /// The lines of another file, as if they were here.
            case file(String)
            /// The lines of another file, which count as one.
            case substack(String)
        }

        /// Such as `auth`; nil for an `@include`, which has lines of every kind.
        let kind: String?
        let target: Target
        /// How many of the following lines its results skip, each if there are several such results.
        let skips: [Int]
    }

    /// A line with those that continue it.
    struct Line {
        let parts: [[UInt8]]
        /// Nil for a comment, an empty line and one that PAM does not know.
        let rule: Rule?
    }

    private(set) var lines: [Line]

    init(_ bytes: [UInt8]) {
        lines = []
        var parts: [[UInt8]] = []
        for part in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            parts.append(Array(part))
            if LoginFile.isContinued(part) { continue }
            lines.append(Line(parts: parts, rule: LoginFile.rule(parts)))
            parts = []
        }
        if !parts.isEmpty { lines.append(Line(parts: parts, rule: LoginFile.rule(parts))) }
    }

    var bytes: [UInt8] {
        Array(lines.flatMap(\.parts).joined(separator: [UInt8(ascii: "\n")]))
    }

    /// The index of the last line of a kind; nil if there is none.
    func lastLine(of kind: String) -> Int? {
        lines.lastIndex { $0.rule?.kind == kind }
    }

    /// Turns a line into a comment that begins with a mark.
    mutating func comment(out index: Int, with mark: String) {
        lines[index] = Line(parts: lines[index].parts.map { Array(mark.utf8) + $0 }, rule: nil)
    }

    mutating func insert(_ text: String, at index: Int) {
        let parts = [Array(text.utf8)]
        lines.insert(Line(parts: parts, rule: LoginFile.rule(parts)), at: index)
    }

    // MARK: Reading

    private static let kinds = ["auth", "account", "password", "session"]

    /// Whether PAM reads the next line as a part of this one; a comment ends a line.
    private static func isContinued(_ part: ArraySlice<UInt8>) -> Bool {
        !part.contains(UInt8(ascii: "#")) && part.last { !isSpace($0) } == UInt8(ascii: "\\")
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || (0x09...0x0d).contains(byte)
    }

    private static func rule(_ parts: [[UInt8]]) -> Rule? {
        var text: [UInt8] = []
        for part in parts {
            let isContinued = isContinued(part[...])
            var part = part.prefix { $0 != UInt8(ascii: "#") }
            if isContinued, let end = part.lastIndex(of: UInt8(ascii: "\\")) { part = part[..<end] }
            text += part + [0x20]
        }
        var words = words(of: text)[...]
        guard var kind = words.popFirst()?.lowercased() else { return nil }
        if kind == "@include" { return words.first.map { Rule(kind: nil, target: .file($0), skips: []) } }
        if kind.first == "-" { kind.removeFirst() }
        guard kinds.contains(kind), let control = words.popFirst(), let target = words.first else { return nil }
        switch control.lowercased() {
        case "include": return Rule(kind: kind, target: .file(target), skips: [])
        case "substack": return Rule(kind: kind, target: .substack(target), skips: [])
        default: return Rule(kind: kind, target: .module(target), skips: skips(control))
        }
    }

    /// The words of a line; what is in brackets is one.
    private static func words(of text: [UInt8]) -> [String] {
        var words: [[UInt8]] = []
        var isInWord = false
        var isInBrackets = false
        for byte in text {
            if isSpace(byte), !isInBrackets {
                isInWord = false
                continue
            }
            if !isInWord { words.append([]) }
            if !isInWord, byte == UInt8(ascii: "[") { isInBrackets = true }
            if byte == UInt8(ascii: "]") { isInBrackets = false }
            isInWord = true
            words[words.count - 1].append(byte)
        }
        return words.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The numbers of a control such as `[success=2 default=ignore]`.
    private static func skips(_ control: String) -> [Int] {
        guard control.first == "[" else { return [] }
        let pairs = control.dropFirst().split { $0 == " " || $0 == "\t" || $0 == "]" }
        return pairs.compactMap { pair in pair.split(separator: "=").last.flatMap { Int($0) } }.filter { $0 > 0 }
    }
}

extension LoginFile.Rule {
    /// The file name of the module; nil if the line has lines of another file.
    var module: String? {
        if case .module(let path) = target { path.lastComponent } else { nil }
    }
}
