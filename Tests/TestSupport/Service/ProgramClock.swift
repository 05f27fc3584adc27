import Foundation
import Synchronization

/// The clock of a program under test, which does not count the time for which a slow machine stalls the test.
///
/// Waits of up to a second take as long as they say; longer ones end after ``pass(_:)``. `Tests/Clock/clock.c` is the
/// library that replaces the program's own clock.
package final class ProgramClock: Sendable {
    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private static let library = Task { try await ProgramClockLibrary() }

    /// The environment of the program, which may be started again with the same clock.
    package let environment: [String: String?]
    private let file: FileHandle
    private let passed = Mutex(Int64(0))

    /// The environment of a program for which no other time passes than that of its short waits.
    package static var environment: [String: String?] {
        get async throws { ["LD_PRELOAD": try await library.value.path] }
    }

    /// Makes a clock with a file in the folder.
    package init(in folder: TemporaryFolder) async throws {
        let path = folder.path("clock")
        guard FileManager.default.createFile(atPath: path, contents: Data(count: 64)) else {
            throw Failure(description: "no file for the clock")
        }
        file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        environment = try await Self.environment.merging(["KEYCHAIND_CLOCK": path]) { $1 }
    }

    /// Lets time pass, which the program sees at its next event, such as a call.
    package func pass(_ time: Duration) throws {
        try passed.withLock { passed in
            passed += Int64(time / .nanoseconds(1))
            try file.seek(toOffset: 0)
            try file.write(contentsOf: withUnsafeBytes(of: passed) { Data($0) })
        }
    }
}

/// The built library, for all clocks of the test process.
private final class ProgramClockLibrary: Sendable {
    private let folder: TemporaryFolder
    let path: String

    init() async throws {
        folder = try TemporaryFolder()
        path = folder.path("clock.so")
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let source = tests.appendingPathComponent("Clock/clock.c").path
        let result = try await Command.run("cc", ["-shared", "-fPIC", "-O1", "-o", path, source, "-ldl"])
        guard result.succeeded else { throw DaemonError(reason: "the clock cannot be built", log: result.errors) }
    }
}
