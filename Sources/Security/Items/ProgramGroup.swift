import Foundation
import SecretServiceClient
import Synchronization

/// The access group of items that a program adds without naming one (decision 0101).
package enum ProgramGroup {
    /// The group that a test sets.
    @TaskLocal package static var chosen: String?

    /// The program's group: in a sandbox its proven identity, which keychaind is asked for once.
    ///
    /// Blocks at that time, so it is not for the thread of the event loop; see ``known``.
    package static var current: String {
        if let chosen { return chosen }
        if let group = proven.withLock({ $0 }) { return group }
        guard isInSandbox else { return ownName }
        let groups = try? BlockingCall.run { (client) async throws(SecretServiceError) in
            try await client.accessGroups() ?? []
        }
        guard let groups else { return ownName }
        let group = groups.first ?? ownName
        proven.withLock { $0 = group }
        return group
    }

    /// The program's group, as far as it is known; does not block.
    package static var known: String { chosen ?? proven.withLock { $0 } ?? ownName }

    /// Whether a query that names no group covers a group: any except the own groups of other programs.
    ///
    /// A program without an `Info.plist` had the group of its file name, and has it still.
    static func covers(_ group: String, of programGroup: String) -> Bool {
        if group == programGroup || group == fileName { return true }
        return ![prefix, "flatpak:", "snap:", "label:"].contains { group.hasPrefix($0) }
    }

    private static let proven = Mutex<String?>(nil)

    private static let fileName = name(bundle: nil, program: programName)

    private static let ownName = name(bundle: Bundle.main.bundleIdentifier, program: programName)

    /// Whether this may be a sandbox; keychaind decides.
    private static let isInSandbox: Bool = {
        if access("/.flatpak-info", F_OK) == 0 || getenv("SNAP") != nil { return true }
        let label = FileManager.default.contents(atPath: "/proc/self/attr/current") ?? Data()
        return String(decoding: label, as: UTF8.self).contains("(enforce)")
    }()

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
