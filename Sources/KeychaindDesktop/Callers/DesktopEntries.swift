/// The names of applications, from their desktop entries (Desktop Entry Specification).
///
/// Reads only the system's folders: the user's programs can write the others.
package struct DesktopEntries: Sendable {
    private let folders: [String]

    /// - Parameter folders: replaced in tests.
    package init(
        folders: [String] = ["/usr/local/share/applications", "/usr/share/applications"]
    ) {
        self.folders = folders
    }

    /// The name of the entry that starts a program; nil if there is none.
    ///
    /// - Parameter unit: names the entry, if it has the form of systemd's "Desktop Environment Integration"; otherwise
    ///   the entry has the name of the program.
    func name(of program: ProgramFile, in unit: SystemdUnit?) -> String? {
        let ids = [unit?.applicationID, program.name].compactMap { $0 }
        for id in ids where DesktopEntries.isFileName(id) {
            for folder in folders {
                guard let content = ProcessFolder.read("\(folder)/\(id).desktop", limit: DesktopEntries.longest),
                    let entry = DesktopEntry(content), entry.starts(program, id: id)
                else { continue }
                return entry.name
            }
        }
        return nil
    }

    private static func isFileName(_ id: String) -> Bool {
        (1...200).contains(id.utf8.count) && !id.utf8.contains(UInt8(ascii: "/")) && !id.hasPrefix(".")
    }

    /// In bytes; browsers translate many keys.
    private static let longest = 256 << 10
}

/// A desktop entry of an application.
struct DesktopEntry: Equatable {
    let name: String
    /// The file name of the program that it starts.
    let program: String

    /// Parses the keys `Name` and `Exec` of the group `Desktop Entry`; nil without both.
    init?(_ content: [UInt8]) {
        var name: String?
        var program: String?
        var isInGroup = false
        for line in content.split(separator: UInt8(ascii: "\n")) {
            if line.first == UInt8(ascii: "[") {
                guard !isInGroup else { break }
                isInGroup = line.elementsEqual("[Desktop Entry]".utf8)
            } else if isInGroup, line.starts(with: "Name=".utf8) {
                name = String(decoding: line.dropFirst(5), as: UTF8.self)
            } else if isInGroup, line.starts(with: "Exec=".utf8) {
                let word = line.dropFirst(5).split(separator: UInt8(ascii: " ")).first
                program = word?.split(separator: UInt8(ascii: "/")).last.map { String(decoding: $0, as: UTF8.self) }
            }
        }
        guard let name, let program, !name.isEmpty, !program.isEmpty else { return nil }
        self.name = name
        self.program = program
    }

    /// Whether the entry fits a running program.
    ///
    /// The user's programs name units as they like; without this, `git` in a unit named after a browser would have the
    /// browser's name. `gnome-terminal` runs `gnome-terminal-server`, `google-chrome-stable` runs `chrome`.
    func starts(_ file: ProgramFile, id: String) -> Bool {
        let name = file.name
        return name.hasPrefix(program) || name.utf8.count > 2 && (program.includes(name) || id.includes(name))
    }
}
