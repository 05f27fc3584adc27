struct AccessControlScanner {
    private let bytes: [UInt8]
    private var position = 0

    init(text: String) {
        bytes = Array(text.utf8)
    }

    /// The tokens, each with the position of its first byte, counted from one.
    static func tokens(of text: String) throws(AccessControlError) -> [(token: AccessControlToken, place: Int)] {
        var scanner = AccessControlScanner(text: text)
        var tokens: [(AccessControlToken, Int)] = []
        while let next = try scanner.next() {
            tokens.append(next)
        }
        return tokens
    }

    private mutating func next() throws(AccessControlError) -> (AccessControlToken, Int)? {
        while position < bytes.count, bytes[position] == UInt8(ascii: " ") || bytes[position] == UInt8(ascii: "\t") {
            position += 1
        }
        guard position < bytes.count else { return nil }
        let place = position + 1
        switch bytes[position] {
        case UInt8(ascii: "("):
            position += 1
            return (.opening, place)
        case UInt8(ascii: ")"):
            position += 1
            return (.closing, place)
        default:
            return (try word(at: place), place)
        }
    }

    private mutating func word(at place: Int) throws(AccessControlError) -> AccessControlToken {
        let start = position
        while position < bytes.count, Self.isLetter(bytes[position]) {
            position += 1
        }
        // The message may reach a log or a terminal, so it quotes letters only.
        guard position > start else {
            throw AccessControlError(
                .syntax,
                reason: "unexpected character at byte \(place)"
            )
        }
        let word = String(decoding: bytes[start..<position], as: UTF8.self)
        guard let token = AccessControlToken(word: word) else {
            throw AccessControlError(.unknownConstraint, reason: Self.complaint(about: word, at: place))
        }
        return token
    }

    private static func complaint(about word: String, at place: Int) -> String {
        let constraints = Constraint.allCases.map(\.rawValue) + [AccessControlToken.privateKeyUsage.description]
        let known = ["and", "or"] + constraints
        if let meant = known.first(where: { $0.lowercased() == word.lowercased() }) {
            return "“\(word)” at byte \(place) must be spelled “\(meant)”"
        }
        return "“\(word)” at byte \(place) is not one of \(constraints.joined(separator: ", "))"
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        default: false
        }
    }
}

enum AccessControlToken: Hashable, Sendable {
    case opening
    case closing
    case and
    case or
    case constraint(Constraint)
    case privateKeyUsage

    init?(word: String) {
        switch word {
        case "and":
            self = .and
        case "or":
            self = .or
        case "privateKeyUsage":
            self = .privateKeyUsage
        default:
            guard let constraint = Constraint(rawValue: word) else { return nil }
            self = .constraint(constraint)
        }
    }
}

extension AccessControlToken: CustomStringConvertible {
    var description: String {
        switch self {
        case .opening: "("
        case .closing: ")"
        case .and: "and"
        case .or: "or"
        case .constraint(let constraint): constraint.rawValue
        case .privateKeyUsage: "privateKeyUsage"
        }
    }
}
