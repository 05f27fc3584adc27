/// What a figure has to keep to.
enum Requirement {
    case atMost(Double)
    case atLeast(Double)
    /// For comparison only.
    case none

    func isMet(by value: Double) -> Bool {
        switch self {
        case .atMost(let bound): value <= bound
        case .atLeast(let bound): value >= bound
        case .none: true
        }
    }

    var text: String {
        switch self {
        case .atMost(let bound): "≤ " + bound.formatted(digits: 2)
        case .atLeast(let bound): "≥ " + bound.formatted(digits: 2)
        case .none: ""
        }
    }
}
