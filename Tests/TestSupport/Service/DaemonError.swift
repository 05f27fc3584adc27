/// A daemon that has not come up, and what it said.
package struct DaemonError: Error, CustomStringConvertible {
    package let reason: String
    package let log: String

    package var description: String { "\(reason)\n\(log)" }
}
