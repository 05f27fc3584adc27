/// A sandbox around a program.
package enum Sandbox: Hashable, Sendable {
    /// By application id, such as `org.gnome.Maps`.
    case flatpak(String)
    /// By name, such as `firefox`.
    case snap(String, evidence: SnapEvidence)
    /// By the name of an AppArmor profile.
    case profile(String)
    /// One whose name is not proven.
    case unnamed

    package enum SnapEvidence: Hashable, Sendable {
        case securityLabel
        case controlGroup
    }

    var evidence: CallerEvidence {
        switch self {
        case .flatpak: .sandboxFile
        case .snap(_, .securityLabel): .securityLabel
        case .snap(_, .controlGroup): .controlGroup
        case .profile: .securityLabel
        case .unnamed: .unprovenSandbox
        }
    }

    /// The identity, such as `flatpak:org.gnome.Maps`; nil if there is none to rely on.
    package var identity: String? {
        switch self {
        case .flatpak(let id): "flatpak:\(id)"
        case .snap(let name, _): "snap:\(name)"
        case .profile(let name): "label:\(name)"
        case .unnamed: nil
        }
    }

    /// The application that Flatpak's `.flatpak-info` names; nil unless Flatpak would accept the id.
    ///
    /// Any program can write such a file: ``ConfinementFinder`` says whether it is proven.
    init?(flatpakInfo content: some Sequence<UInt8>) {
        guard let info = FlatpakInfo(content) else { return nil }
        self = .flatpak(info.application)
    }

    /// Parses the AppArmor label of a Snap, `snap.NAME.PROGRAM (enforce)`.
    ///
    /// Nil for a profile in complain mode, which enforces nothing.
    init?(snapLabel label: String) {
        guard let profile = Sandbox.enforcedProfile(in: label), let name = Sandbox.snapName(in: profile) else {
            return nil
        }
        self = .snap(name, evidence: .securityLabel)
    }

    /// Parses the label of another AppArmor profile in enforce mode, `PROFILE (enforce)`.
    init?(profileLabel label: String) {
        guard let profile = Sandbox.enforcedProfile(in: label), !profile.isEmpty, profile != "unconfined",
            profile.utf8.count <= Sandbox.longestProfile,
            // The names of profiles are paths and words; an identity is one word.
            profile.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        self = .profile(String(profile))
    }

    private static let longestProfile = 255

    private static func enforcedProfile(in label: String) -> Substring? {
        let mode = " (enforce)"
        return label.hasSuffix(mode) ? label.dropLast(mode.count) : nil
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

    /// Whether a text can be the id of an application.
    package static func isName(_ text: String, limit: Int) -> Bool {
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
        case .profile(let name): "AppArmor profile \(name)"
        case .unnamed: "a sandbox without a proven name"
        }
    }
}
