/// How a process has ended.
package enum ExitStatus: Hashable, Sendable {
    case exited(Int32)
    case killed(signal: Int32)

    package static let success = ExitStatus.exited(0)
}
