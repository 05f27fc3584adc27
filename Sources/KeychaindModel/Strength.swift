/// How much the evidence for a program's identity withstands, from the weakest.
package enum Strength: String, Hashable, Sendable, CaseIterable, Comparable {
    /// Only stated, or arranged by any program of the user: a script, a unit, a program file of the user's.
    case said

    /// The file of a program that only root can change. Another program may drive it, or have loaded code into it.
    case likely

    /// A sandbox that the program cannot leave.
    case proven

    package static func < (first: Strength, second: Strength) -> Bool { first.order < second.order }

    private var order: Int {
        switch self {
        case .said: 0
        case .likely: 1
        case .proven: 2
        }
    }
}
