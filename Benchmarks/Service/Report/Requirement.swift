/// The requirement for a value.
enum Requirement {
    case atMost(Double)
    case atLeast(Double)
    /// None; for comparison only.
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
