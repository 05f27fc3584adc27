/// What PAM runs for each program, and which lines are skipped by their number.
///
/// A line such as `auth [success=2 default=ignore] pam_unix.so` skips the next two of its kind, whichever they are.
/// With one more or fewer among them it would skip another one than was meant, such as `pam_deny.so`.
struct LoginStacks {
    /// A line of a file.
    struct Place: Hashable {
        let file: String
        let line: Int
    }

    /// A line that PAM counts as one.
    private struct Element {
        let place: Place
        let skips: [Int]
        /// Its place, and those of includes that end with it.
        var ends: [Place]
    }

    static let folder = "/etc/pam.d"
    private static let folders = [folder, "/usr/lib/pam.d"]
    private static let kinds = ["auth", "account", "password", "session"]
    /// PAM itself refuses deeper ones.
    private static let depth = 16
    private static let limit = 1 << 14

    private let tree: FileTree
    private var files: [String: LoginFile] = [:]
    /// The lines that others skip, or that skip others.
    private(set) var counted: Set<Place> = []
    /// The lines after which there can be no further one, since others skip that position.
    private(set) var crossed: Set<Place> = []

    init(of tree: FileTree) {
        self.tree = tree
        for folder in Self.folders {
            for name in tree.names(in: folder) where files[name] == nil {
                files[name] = tree.bytes(of: "\(folder)/\(name)").map(LoginFile.init)
            }
        }
        for name in files.keys {
            for kind in Self.kinds { _ = elements(of: name, kind, depth: 0) }
        }
    }

    /// The lines of a kind, with those of files that are included; notes which of them are skipped.
    private mutating func elements(of name: String, _ kind: String, depth: Int) -> [Element] {
        guard depth < Self.depth, let file = file(name) else { return [] }
        var elements: [Element] = []
        for (line, entry) in file.lines.enumerated() {
            guard let rule = entry.rule, rule.kind ?? kind == kind, elements.count < Self.limit else { continue }
            let place = Place(file: name, line: line)
            switch rule.target {
            case .module:
                elements.append(Element(place: place, skips: rule.skips, ends: [place]))
            case .substack(let other):
                _ = self.elements(of: LoginStacks.name(other), kind, depth: depth + 1)
                elements.append(Element(place: place, skips: [], ends: [place]))
            case .file(let other):
                elements += self.elements(of: LoginStacks.name(other), kind, depth: depth + 1)
                if !elements.isEmpty { elements[elements.count - 1].ends.append(place) }
            }
        }
        note(elements)
        return elements
    }

    private mutating func note(_ elements: [Element]) {
        for (index, element) in elements.enumerated() {
            for count in element.skips {
                counted.insert(element.place)
                let end = min(elements.count, index + 1 + min(count, elements.count))
                counted.formUnion(elements[(index + 1)..<end].map(\.place))
                crossed.formUnion(elements[index..<max(index + 1, end - 1)].flatMap(\.ends))
            }
        }
    }

    private func file(_ name: String) -> LoginFile? {
        files[name] ?? (name.hasPrefix("/") ? tree.bytes(of: name).map(LoginFile.init) : nil)
    }

    /// The name of a file that is included by its path.
    private static func name(_ path: String) -> String {
        folders.contains(path.parentFolder) ? path.lastComponent : path
    }
}
