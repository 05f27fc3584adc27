import Foundation

/// The access group of items that a program adds without naming one (decision 0101).
package enum ProgramGroup {
    /// The program's group; a test sets its own.
    @TaskLocal package static var current = name(bundle: Bundle.main.bundleIdentifier, program: programName)

    /// The place of Apple's team identifier: programs split it off at the first dot.
    private static let prefix = "local."

    /// In bytes, as the service allows.
    private static let maximumLength = 255

    /// The group of a program with this bundle identifier, or with this name.
    package static func name(bundle: String?, program: String) -> String {
        let name = bundle.flatMap { $0.isEmpty ? nil : $0 } ?? program
        var group = prefix + name.filter { $0 != "\0" }
        while group.utf8.count > maximumLength { group.removeLast() }
        return group
    }

    private static var programName: String {
        Bundle.main.executableURL?.lastPathComponent ?? ProcessInfo.processInfo.processName
    }
}
