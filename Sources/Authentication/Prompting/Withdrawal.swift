/// Why a talk with a person was ended from outside.
package enum Withdrawal: Hashable, Sendable {
    /// The program that asked does not want an answer any more, or is gone.
    case byProgram
    /// The daemon lets nobody be asked now; says why, such as that the session was locked.
    case bySystem(reason: String)
}
