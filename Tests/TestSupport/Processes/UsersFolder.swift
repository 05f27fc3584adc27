import Foundation

/// A folder that the user's programs can write, also where the tests are root's.
package final class UsersFolder: Sendable {
    /// A file that could not be copied.
    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let folder: TemporaryFolder

    package init() throws {
        folder = try TemporaryFolder()
        guard geteuid() == 0 else { return }
        try FileManager.default.setAttributes([.ownerAccountID: 65534], ofItemAtPath: folder.path)
    }

    /// Copies a program; by another process, since what is open for writing cannot be run.
    package func copy(_ program: String, as name: String) async throws -> String {
        let path = folder.path(name)
        let copy = try await Command.run("install", ["-m", "755", program, path])
        guard copy.succeeded else { throw Failure(description: copy.errors) }
        return path
    }

    /// A library that can be loaded into every program.
    package func library() async throws -> String {
        let libraries = [
            "/lib/x86_64-linux-gnu/libz.so.1", "/lib64/libz.so.1", "/usr/lib/libz.so.1",
            "/lib/aarch64-linux-gnu/libz.so.1",
        ]
        guard let library = libraries.first(where: FileManager.default.fileExists) else {
            throw Failure(description: "libz is not installed")
        }
        return try await copy(library, as: "evil.so")
    }

    /// The dynamic loader of this machine.
    package static var loader: String? {
        ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"].first(where: FileManager.default.fileExists)
    }

    package static func has(_ program: String) -> Bool {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/\(program)")
    }
}
