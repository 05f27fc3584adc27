import Glibc
import KeychaindDesktop
import KeychaindFiles

/// The access groups of sandboxed programs, from files that only root can change (docs/access-groups.md).
struct AccessGroups: Sendable {
    /// The members of each group.
    private var members: [String: Set<String>] = [:]

    private static let mostFiles = 1_000
    private static let longestFile = 64 << 10
    private static let longestName = 256

    /// Reads the files `*.groups` of `keychaind/groups.d` below `XDG_DATA_DIRS`; blocks.
    static func read() -> AccessGroups {
        let variable = getenv("XDG_DATA_DIRS").map { String(cString: $0) } ?? ""
        let folders = (variable.isEmpty ? "/usr/local/share:/usr/share" : variable).split(separator: ":")
        return AccessGroups(folders: folders.map { $0 + "/keychaind/groups.d" })
    }

    init(folders: [String]) {
        var protection = FileProtection()
        for folder in folders where folder.hasPrefix("/") {
            for name in AccessGroups.names(in: folder) where name.hasSuffix(".groups") && !name.hasPrefix(".") {
                let path = "\(folder)/\(name)"
                guard protection.protects(path),
                    let content = ProcessFolder.read(path, limit: AccessGroups.longestFile + 1),
                    content.count <= AccessGroups.longestFile
                else { continue }
                add(content)
            }
        }
    }

    /// Adds lines `GROUP: IDENTITY IDENTITY …`; a line with anything else in it counts for nothing.
    mutating func add(_ content: [UInt8]) {
        for line in String(decoding: content, as: UTF8.self).split(whereSeparator: \.isNewline) {
            guard line.first(where: { !$0.isWhitespace }) != "#", let colon = line.firstIndex(of: ":") else { continue }
            let group = line[..<colon].filter { !$0.isWhitespace }
            let programs = line[line.index(after: colon)...].split(whereSeparator: \.isWhitespace).map(String.init)
            guard (1...AccessGroups.longestName).contains(group.utf8.count), !programs.isEmpty,
                programs.allSatisfy(AccessGroups.isIdentity)
            else { continue }
            members[group, default: []].formUnion(programs)
        }
    }

    /// The groups of a program that files give to it, with their members.
    func groups(of program: String) -> [String: Set<String>] {
        members.filter { $0.value.contains(program) }
    }

    /// Whether a text can be the identity of a sandboxed program.
    static func isIdentity(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), ["flatpak", "snap", "label"].contains(text[..<colon]) else {
            return false
        }
        let name = text[text.index(after: colon)...].utf8
        return (1...255).contains(name.count) && name.allSatisfy { (0x21...0x7E).contains($0) }
    }

    private static func names(in folder: String) -> [String] {
        var names: [String] = []
        _ = FolderListing.forEach(in: folder) { name in
            names.append(name)
            return names.count < mostFiles
        }
        return names.sorted()
    }
}
