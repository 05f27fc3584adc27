import Foundation
import KeychaindSwitch
import KeychaindTestSupport

/// A root folder with the files of a system that does not exist, and an account on it.
struct MadeUpSystem {
    static let installation = Installation(prefix: "/usr")

    let root: TemporaryFolder

    /// Creates a system with keychaind and these files; a target begins with an arrow.
    init(_ files: [String: String] = [:]) throws {
        root = try TemporaryFolder()
        for (path, content) in files.merging(
            ["/usr/bin/keychaind": "", "/home/anna/.profile": ""],
            uniquingKeysWith: { first, _ in first }
        ) {
            try write(content, to: path)
        }
    }

    func write(_ content: String, to path: String) throws {
        try FileManager.default.createDirectory(
            atPath: root.path + path.parentFolder,
            withIntermediateDirectories: true
        )
        if content.hasPrefix("→") {
            try FileManager.default.createSymbolicLink(
                atPath: root.path + path,
                withDestinationPath: String(content.dropFirst())
            )
        } else {
            try content.write(toFile: root.path + path, atomically: false, encoding: .utf8)
        }
    }

    func write(_ bytes: [UInt8], to path: String) throws {
        try write("", to: path)
        try Data(bytes).write(to: URL(fileURLWithPath: root.path + path))
    }

    func text(_ path: String) -> String? {
        FileTree(root: root.path, care: .own).text(of: path)
    }

    func bytes(_ path: String) -> [UInt8]? {
        FileTree(root: root.path, care: .own).bytes(of: path)
    }

    func account(_ environment: [String: String] = [:]) -> SwitchAccount {
        SwitchAccount(
            home: "/home/anna",
            environment: environment,
            tree: FileTree(root: root.path, care: .own),
            installation: MadeUpSystem.installation
        )
    }

    var everybody: SwitchAccount { SwitchAccount(root: root.path, installation: MadeUpSystem.installation) }

    /// What status finds, with the folder of the system kept until then.
    func inspect(_ owner: Inspection.Owner? = nil, _ environment: [String: String] = [:]) -> Inspection {
        Inspection(of: account(environment), owner: owner)
    }

    /// Every path below the root with its kind, mode and content.
    func entries() throws -> [String: String] {
        var result: [String: String] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: root.path) {
            let attributes = try FileManager.default.attributesOfItem(atPath: root.path(path))
            let mode = attributes[.posixPermissions].map { "\($0)" } ?? ""
            result[path] = mode + " " + "\(try FileTree(root: root.path, care: .own).state(of: "/" + path))"
        }
        return result
    }
}
