import KeychaindFiles
import KeychaindLanguage

extension SwitchAccount {
    private static let portalFolder = "/xdg-desktop-portal"

    /// The desktop portal asks keychaind for the secrets of programs in sandboxes.
    var portalSteps: [Plan.Step] {
        let places = ["/usr/libexec", "/usr/lib"].map { $0 + SwitchAccount.portalFolder }
        guard first(places) != nil else { return [] }
        let backends = scope == .all ? "/usr/share" : dataFolder
        let backend = Plan.Step(
            path: "\(backends)\(SwitchAccount.portalFolder)/portals/keychaind.portal",
            purpose: Text("the desktop portal finds keychaind"),
            becomes: .link(target: installation.shared("keychaind.portal"))
        )
        return [backend] + portalPreferences
    }

    /// xdg-desktop-portal from 1.17 on reads the first of these files that it finds, so a copy has to say everything.
    private var portalPreferences: [Plan.Step] {
        let own = (scope == .all ? "/etc" : configFolder) + SwitchAccount.portalFolder
        let others = (scope == .all ? [] : configFolders + ["/etc", dataFolder]) + dataFolders
        let folders = others.map { $0 + SwitchAccount.portalFolder }
        return preferenceNames(own, folders).compactMap { name in
            let source = first(([own] + folders).map { "\($0)/\(name)" })
            let file = KeyFile(source.flatMap { tree.bytes(of: $0) } ?? [])
            let key = "org.freedesktop.impl.portal.Secret"
            let present = file.value("preferred", key) ?? file.value("preferred", "default") ?? "*"
            if present.split(separator: ";").first == "keychaind" { return nil }
            var settings = [KeyFile.Setting("preferred", key, "keychaind;\(present)")]
            if source == nil { settings.insert(.init("preferred", "default", "*"), at: 0) }
            return edit(
                "\(own)/\(name)",
                source: source,
                purpose: Text("the desktop portal prefers keychaind for secrets"),
                settings
            )
        }
    }

    /// The files for the running desktop, or for every desktop if none runs.
    private func preferenceNames(_ own: String, _ folders: [String]) -> [String] {
        let present = Set(([own] + folders).flatMap { tree.names(in: $0) }).filter { $0.hasSuffix("portals.conf") }
        // Older portals read no such file.
        guard !present.isEmpty else { return [] }
        guard !desktops.isEmpty else { return present.sorted() }
        // The folders come before the names: any file in a folder hides those of later folders.
        for folder in [own] + folders {
            for name in desktops.map({ "\($0)-portals.conf" }) + ["portals.conf"]
            where tree.exists("\(folder)/\(name)") { return [name] }
        }
        return ["portals.conf"]
    }
}
