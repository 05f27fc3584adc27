/// A word or sign of an access control's text.
enum AccessControlToken: Hashable, Sendable {
    case opening
    case closing
    case and
    case or
    case constraint(Constraint)

    /// Reads the word; nil if it is none.
    init?(word: String) {
        switch word {
        case "and":
            self = .and
        case "or":
            self = .or
        default:
            guard let constraint = Constraint(rawValue: word) else { return nil }
            self = .constraint(constraint)
        }
    }
}

extension AccessControlToken: CustomStringConvertible {
    /// The token as it is written.
    var description: String {
        switch self {
        case .opening: "("
        case .closing: ")"
        case .and: "and"
        case .or: "or"
        case .constraint(let constraint): constraint.rawValue
        }
    }
}
