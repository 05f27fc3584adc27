import KeychaindDBus

/// What does not change while the daemon runs, for `org.keychaind.Status1`.
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
            Property("ConfigurationFile", String.self, changes: .never, get: { $0.provider.settings.file }),
            Property("Settings", [String].self, changes: .untold, get: { $0.provider.settings.lines }),
            Property("SessionLocked", Bool.self, changes: .untold, get: { $0.provider.access.isSessionLocked }),
        ]
    )
}
