@testable import KeychaindDesktop
@testable import KeychaindLanguage
@testable import KeychaindSecretService

/// What the kernel, sandboxes and desktop files say about callers, much of it written by the caller.
extension FuzzReader {
    static let processes = [
        FuzzReader("flatpak-info") { bytes in
            guard let info = FlatpakInfo(bytes) else { throw Refusal() }
            promise(Sandbox.isName(info.application, limit: 255), "a Flatpak has a plain name")
            promise(info.instance.map { !$0.contains("/") && $0 != ".." } ?? true, "an instance is no path")
        },
        FuzzReader("proc-stat") { bytes in guard ProcessStatus(bytes.copied) != nil else { throw Refusal() } },
        FuzzReader("proc-maps") { bytes in guard MappedCode(bytes.copied) != nil else { throw Refusal() } },
        FuzzReader("proc-environ") { bytes in
            let content = bytes.copied
            _ = CallerLocale.find(in: content)
            _ = TerminalEnvironment(content)
        },
        FuzzReader("proc-cgroup") { bytes in
            guard let unit = SystemdUnit(controlGroups: bytes) else { throw Refusal() }
            _ = Sandbox(unit: unit)
        },
        FuzzReader("security-label") { bytes in
            let label = bytes.text
            if case .snap(let name, _)? = Sandbox(snapLabel: label) {
                promise(Sandbox.isName(name, limit: 51), "a Snap has a plain name")
            }
            if case .profile(let name)? = Sandbox(profileLabel: label) {
                promise(AccessGroups.isIdentity("label:\(name)"), "a profile is one word")
            }
        },
        FuzzReader("desktop-entry") { bytes in guard DesktopEntry(bytes.copied) != nil else { throw Refusal() } },
        FuzzReader("prompt-text") { bytes in
            let text = bytes.text
            for shown in [PromptText.name(text), PromptText.line(text)] {
                promise(
                    !shown.unicodeScalars.contains { $0.properties.generalCategory == .control },
                    "a line for a person has no control characters"
                )
            }
            _ = PromptText.text(text)
            let hasTag = PromptText.withoutMarkup(text).unicodeScalars.contains("<")
            promise(!hasTag, "a text for a desktop has no tags")
        },
        FuzzReader("catalogue") { bytes in
            guard let catalogue = Catalogue(bytes.copied) else { throw Refusal() }
            for count in [nil, 0, 1, 5, UInt64.max] {
                _ = catalogue.translation(of: "a", plural: count.map { _ in "b" }, context: nil, count: count)
            }
        },
    ]
}
