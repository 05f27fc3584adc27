/// Which form of a translation a number takes: gettext's `Plural-Forms`, an expression of C.
struct PluralRule: Sendable {
    let forms: Int
    private let expression: PluralExpression

    private static let largestForms = 16

    /// - Parameter header: the translation of the empty key; nil without a rule that can be read.
    init?(header: String) {
        let name = "Plural-Forms:"
        guard let line = header.split(separator: "\n").first(where: { $0.hasPrefix(name) }) else { return nil }
        var values: [Substring: Substring] = [:]
        for field in line.dropFirst(name.count).split(separator: ";") {
            let parts = field.split(separator: "=", maxSplits: 1)
            guard parts.count == 2 else { continue }
            values[Self.trimmed(parts[0])] = Self.trimmed(parts[1])
        }
        guard let forms = values["nplurals"].flatMap({ Int($0) }), (1...Self.largestForms).contains(forms),
            let expression = values["plural"].flatMap(PluralExpression.parse)
        else { return nil }
        self.forms = forms
        self.expression = expression
    }

    /// Nil if the rule names no form, or divides by zero.
    func form(for count: UInt64) -> Int? {
        guard let value = expression.value(of: count), value < UInt64(forms) else { return nil }
        return Int(value)
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let start = text.drop { $0 == " " }
        return start.lastIndex { $0 != " " }.map { start[...$0] } ?? ""
    }
}

/// An expression over `n`, without loops: its work is bounded by its length.
indirect enum PluralExpression: Sendable {
    case variable
    case constant(UInt64)
    case not(PluralExpression)
    case binary(Operator, PluralExpression, PluralExpression)
    case conditional(PluralExpression, PluralExpression, PluralExpression)

    enum Operator: String, Sendable {
        case or = "||", and = "&&", equal = "==", unequal = "!=", less = "<", greater = ">", atMost = "<="
        case atLeast = ">=", plus = "+", minus = "-", times = "*", divided = "/", modulo = "%"
    }

    /// In characters; the longest rule of a language, Arabic's, has about a hundred.
    private static let longest = 500

    static func parse(_ text: Substring) -> PluralExpression? {
        guard text.utf8.count <= longest else { return nil }
        var parser = PluralParser(text)
        guard let expression = parser.conditional(), parser.isAtEnd else { return nil }
        return expression
    }

    func value(of count: UInt64) -> UInt64? {
        switch self {
        case .variable: return count
        case .constant(let number): return number
        case .not(let operand): return operand.value(of: count).map { $0 == 0 ? 1 : 0 }
        case .conditional(let condition, let first, let second):
            return condition.value(of: count).flatMap { ($0 != 0 ? first : second).value(of: count) }
        case .binary(let operation, let first, let second):
            guard let left = first.value(of: count), let right = second.value(of: count) else { return nil }
            return Self.apply(operation, left, right)
        }
    }

    private static func apply(_ operation: Operator, _ left: UInt64, _ right: UInt64) -> UInt64? {
        switch operation {
        case .or: left != 0 || right != 0 ? 1 : 0
        case .and: left != 0 && right != 0 ? 1 : 0
        case .equal: left == right ? 1 : 0
        case .unequal: left != right ? 1 : 0
        case .less: left < right ? 1 : 0
        case .greater: left > right ? 1 : 0
        case .atMost: left <= right ? 1 : 0
        case .atLeast: left >= right ? 1 : 0
        case .plus: left &+ right
        case .minus: left &- right
        case .times: left &* right
        case .divided: right == 0 ? nil : left / right
        case .modulo: right == 0 ? nil : left % right
        }
    }
}

/// Descends through the levels of precedence.
private struct PluralParser {
    private var rest: Substring.UTF8View
    private var depth = 0

    private static let deepest = 32
    /// The loosest first; of two operators with a common start the longer one first.
    private static let levels: [[PluralExpression.Operator]] = [
        [.or], [.and], [.equal, .unequal], [.atMost, .atLeast, .less, .greater], [.plus, .minus],
        [.times, .divided, .modulo],
    ]

    init(_ text: Substring) {
        rest = text.utf8
    }

    var isAtEnd: Bool {
        mutating get {
            skipSpaces()
            return rest.isEmpty
        }
    }

    mutating func conditional() -> PluralExpression? {
        depth += 1
        defer { depth -= 1 }
        guard depth <= PluralParser.deepest, let condition = binary(0) else { return nil }
        guard take("?") else { return condition }
        guard let first = conditional(), take(":"), let second = conditional() else { return nil }
        return .conditional(condition, first, second)
    }

    private mutating func binary(_ level: Int) -> PluralExpression? {
        guard level < PluralParser.levels.count else { return operand() }
        guard var left = binary(level + 1) else { return nil }
        while let operation = PluralParser.levels[level].first(where: { take($0.rawValue) }) {
            guard let right = binary(level + 1) else { return nil }
            left = .binary(operation, left, right)
        }
        return left
    }

    private mutating func operand() -> PluralExpression? {
        depth += 1
        defer { depth -= 1 }
        guard depth <= PluralParser.deepest else { return nil }
        if take("!") { return operand().map { .not($0) } }
        if take("(") {
            guard let inner = conditional(), take(")") else { return nil }
            return inner
        }
        if take("n") { return .variable }
        let digits = rest.prefix { (0x30...0x39).contains($0) }
        guard let number = UInt64(Substring(digits)) else { return nil }
        rest = rest.dropFirst(digits.count)
        return .constant(number)
    }

    private mutating func take(_ text: String) -> Bool {
        skipSpaces()
        guard rest.starts(with: text.utf8) else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }

    private mutating func skipSpaces() {
        rest = rest.drop { $0 == 0x20 }
    }
}
