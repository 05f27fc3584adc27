/// Why a wait has ended without what it was for.
package enum WaitError: Error, CustomStringConvertible {
    /// It did not happen in the time allowed.
    case timedOut(String)
    /// It can no longer happen, because nothing more will.
    case ended(String)

    package var description: String {
        switch self {
        case .timedOut(let what): "still waiting for \(what)"
        case .ended(let what): "nothing more will happen, but \(what) has not"
        }
    }
}
