import KeychaindDBus
import KeychaindVault

/// Facts that stay the same while the daemon runs, for `org.keychaind.Status1`.
package struct ProviderFacts: Sendable {
    package let version: String
    /// The names of the prompters, in order.
    package let prompters: [String]
    package let isInDomain: Bool

    package init(version: String = "", prompters: [String] = [], isInDomain: Bool = false) {
        self.version = version
        self.prompters = prompters
        self.isInDomain = isInDomain
    }
}

/// The settings in force.
package struct ProviderSettings: Sendable {
    /// The configuration file; empty if there can be none.
    package let file: String
    /// All settings, as lines of TOML.
    package let lines: [String]

    package init(file: String = "", lines: [String] = []) {
        self.file = file
        self.lines = lines
    }
}

extension ServiceObject {
    @BusActor static let statusInterface = Interface<ServiceObject>(
        InterfaceName.status,
        properties: [
            Property("Version", String.self, changes: .never, get: { $0.provider.facts.version }),
            Property("Prompters", [String].self, changes: .never, get: { $0.provider.facts.prompters }),
            Property("InDomain", Bool.self, changes: .never, get: { $0.provider.facts.isInDomain }),
            Property("ConfigurationFile", String.self, changes: .never, get: { $0.settings.file }),
            Property("Settings", [String].self, changes: .untold, get: { $0.settings.lines }),
            Property("Identity", String.self, changes: .untold, get: { $0.identity ?? "" }),
            Property("AccessGroups", [String].self, changes: .untold, get: { $0.accessGroups }),
            Property("SessionLocked", Bool.self, changes: .untold, get: { $0.provider.access.isSessionLocked }),
        ]
    )

    /// The settings; none for a program in a sandbox, as they name others.
    @BusActor private var settings: ProviderSettings {
        client.view.isConfined ? ProviderSettings() : provider.settings
    }

    /// The proven identity of the client; nil outside of sandboxes.
    @BusActor private var identity: String? { client.view.stamp?.program }

    /// The access groups of a proven identity, itself first.
    @BusActor private var accessGroups: [String] {
        guard case .own(let own) = client.view else { return identity.map { [$0] } ?? [] }
        return [own.stamp.program] + own.groups.keys.sorted()
    }
}
