package enum Sandbox: Hashable, Sendable {
    /// By application id, such as `org.gnome.Maps`.
    case flatpak(String)
    /// By name, such as `firefox`.
    case snap(String, evidence: SnapEvidence)

    package enum SnapEvidence: Hashable, Sendable {
        case securityLabel
        case controlGroup
    }

    var evidence: CallerEvidence {
        switch self {
        case .flatpak: .sandboxFile
        case .snap(_, .securityLabel): .securityLabel
        case .snap(_, .controlGroup): .controlGroup
        }
    }

    var identity: String {
        switch self {
        case .flatpak(let id): "flatpak:\(id)"
        case .snap(let name, _): "snap:\(name)"
        }
    }

    /// Parses Flatpak's `.flatpak-info`, a key file with the id as `name` in the group `Application`.
    ///
    /// Nil unless Flatpak would accept the id: up to 255 letters, digits, `_`, `-` and `.`.
    init?(flatpakInfo content: some Sequence<UInt8>) {
        var group = ""
        for line in String(decoding: Array(content), as: UTF8.self).split(whereSeparator: \.isNewline) {
            if line.hasPrefix("["), line.hasSuffix("]") {
                group = String(line.dropFirst().dropLast())
            } else if group == "Application", line.hasPrefix("name=") {
                let id = String(line.dropFirst("name=".count))
                guard id.contains("."), Sandbox.isName(id, limit: 255) else { return nil }
                self = .flatpak(id)
                return
            }
        }
        return nil
    }

    /// Parses the AppArmor label of a Snap, `snap.NAME.PROGRAM (enforce)`.
    ///
    /// Nil for a profile in complain mode, which enforces nothing.
    init?(securityLabel label: String) {
        let parts = label.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1] == "(enforce)", let name = Sandbox.snapName(in: parts[0]) else { return nil }
        self = .snap(name, evidence: .securityLabel)
    }

    /// Parses snapd's units, `snap.NAME.PROGRAM-UUID.scope` or `snap.NAME.PROGRAM.service`.
    init?(unit: SystemdUnit) {
        guard let name = Sandbox.snapName(in: unit.name[...]) else { return nil }
        self = .snap(name, evidence: .controlGroup)
    }

    private static func snapName(in text: Substring) -> String? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count >= 3, parts[0] == "snap" else { return nil }
        let name = String(parts[1])
        return isName(name, limit: 51) && !name.contains(".") ? name : nil
    }

    private static func isName(_ text: String, limit: Int) -> Bool {
        (1...limit).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}

extension Sandbox: CustomStringConvertible {
    package var description: String {
        switch self {
        case .flatpak(let id): "Flatpak \(id)"
        case .snap(let name, _): "Snap \(name)"
        }
    }
}
