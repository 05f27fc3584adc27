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

    /// A file, for the lines of one kind, as deep in others as it is.
    private struct Part: Hashable {
        let name: String
        let kind: String
        let depth: Int
    }

    /// A line that PAM counts as one.
    private struct Element {
        let place: Place
        let skips: [Int]
        /// Its place, and those of includes that end with it and are the last line of their kind.
        var ends: [Place]
    }

    static let folder = "/etc/pam.d"
    private static let folders = [folder, "/usr/lib/pam.d"]
    private static let kinds = ["auth", "account", "password", "session"]
    /// PAM itself refuses deeper substacks, and cannot open a file that includes itself.
    private static let depth = 16
    /// The most lines of a kind that are counted in a file and those that it includes.
    private static let limit = 1 << 14

    private let tree: FileTree
    private var files: [String: LoginFile] = [:]
    /// What is known already: files that include others many times would take exponential time.
    private var known: [Part: [Element]] = [:]
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
        let names = Array(files.keys)
        for kind in Self.kinds {
            for name in names { _ = elements(of: Part(name: name, kind: kind, depth: 0)) }
            known = [:]
        }
    }

    /// The lines of a kind, with those of files that are included; notes which of them are skipped.
    private mutating func elements(of part: Part) -> [Element] {
        if let elements = known[part] { return elements }
        guard part.depth < Self.depth, let file = file(part.name) else { return [] }
        let last = file.lastLine(of: part.kind)
        var elements: [Element] = []
        for (line, entry) in file.lines.enumerated() {
            guard let rule = entry.rule, rule.kind ?? part.kind == part.kind, elements.count < Self.limit else {
                continue
            }
            let place = Place(file: part.name, line: line)
            switch rule.target {
            case .module:
                elements.append(Element(place: place, skips: rule.skips, ends: [place]))
            case .substack(let other):
                _ = included(other, in: part)
                elements.append(Element(place: place, skips: [], ends: [place]))
            case .file(let other):
                elements += included(other, in: part).prefix(Self.limit - elements.count)
                if line == last, !elements.isEmpty { elements[elements.count - 1].ends.append(place) }
            }
        }
        note(elements)
        known[part] = elements
        return elements
    }

    private mutating func included(_ path: String, in part: Part) -> [Element] {
        elements(of: Part(name: LoginStacks.name(path), kind: part.kind, depth: part.depth + 1))
    }

    private mutating func note(_ elements: [Element]) {
        // Where what is skipped by this line and earlier ones ends.
        var end = 0
        for (index, element) in elements.enumerated() {
            if index < end { counted.insert(element.place) }
            if let count = element.skips.max() {
                counted.insert(element.place)
                crossed.formUnion(element.ends)
                end = max(end, min(elements.count, index + 1 + min(count, elements.count)))
            }
            if index + 1 < end { crossed.formUnion(element.ends) }
        }
    }

    private mutating func file(_ name: String) -> LoginFile? {
        if let file = files[name] { return file }
        guard name.hasPrefix("/"), let file = tree.bytes(of: name).map(LoginFile.init) else { return nil }
        files[name] = file
        return file
    }

    /// The name of a file that is included by its path.
    private static func name(_ path: String) -> String {
        folders.contains(path.parentFolder) ? path.lastComponent : path
    }
}
