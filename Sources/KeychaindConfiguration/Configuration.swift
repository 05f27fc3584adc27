/// The content of `config.toml`.
///
///     [lock]
///     on-screen-lock = true
///     idle-minutes = 30
///
///     [keychain.work.lock]
///     on-sleep = true
///
///     [host]
///     unlock-at-start = true
///
///     [access]
///     ask-at-read = ["seahorse"]
package struct Configuration: Hashable, Sendable {
    /// The longest accepted text in bytes; small, as each nested table takes stack space.
    package static let limit = 16 << 10

    /// The lock rules of keychains without rules of their own.
    package private(set) var lock = LockRules()

    package var host = HostRules()

    package private(set) var access = AccessRules()

    /// A folder of sockets that are security keys, for tests; empty for the keys of the system.
    package var securityKeyFolder = ""

    private var overrides: [String: [Override]] = [:]

    /// A rule of one keychain, which overrides the general one.
    private enum Override: Hashable, Sendable {
        case onScreenLock(Bool)
        case onSleep(Bool)
        case onSessionEnd(Bool)
        case afterIdle(Duration?)
        /// Locks with the screen, before sleep and with the session, for a rule that cannot be read.
        case more
    }

    /// The idle time if the configured one cannot be read.
    private static let safeIdleTime = Duration.seconds(900)

    /// Creates the default configuration, which applies without a file.
    package init() {}

    /// Parses the content of a file; any mistake rejects all of it.
    package init(parsing text: [UInt8]) throws(ConfigurationError) {
        let reading = ConfigurationReading(of: text)
        if let mistake = reading.mistakes.first { throw mistake.error }
        self = reading.configuration
    }

    /// The configuration if the file is there and cannot be read.
    package static var unreadable: Configuration {
        var configuration = Configuration()
        configuration.lockMore(.all)
        return configuration
    }

    package func lockRules(of keychain: String) -> LockRules {
        var rules = lock
        for override in overrides[keychain] ?? [] {
            Configuration.apply(override, to: &rules)
        }
        return rules
    }

    /// The names of the keychains with rules of their own.
    package var keychains: Set<String> { Set(overrides.keys) }

    /// Whether any keychain locks before the system sleeps.
    package var locksOnSleep: Bool {
        lock.onSleep || overrides.keys.contains { lockRules(of: $0).onSleep }
    }

    /// The idle times after which keychains lock.
    package var idleTimes: Set<Duration> {
        Set(([lock] + overrides.keys.map(lockRules)).compactMap(\.afterIdle))
    }

    // MARK: Reading

    /// Applies an entry; a lock rule with a wrong value is applied as the safe one.
    mutating func apply(_ entry: TOMLEntry) throws(ConfigurationError) {
        do throws(ConfigurationError) {
            try set(entry)
        } catch {
            if let override = Configuration.safeOverride(entry) {
                if entry.keys.count == 2 {
                    Configuration.apply(override, to: &lock)
                } else {
                    overrides[entry.keys[1], default: []].append(override)
                }
            }
            throw error
        }
    }

    /// Adds the safe rules below those that can be read.
    mutating func lockMore(_ scope: ConfigurationReading.Scope) {
        switch scope {
        case .all: Configuration.apply(.more, to: &lock)
        case .keychain(let name): overrides[name, default: []].insert(.more, at: 0)
        }
    }

    /// The keychains that an entry may be about; nil for none.
    static func scope(of entry: TOMLEntry) -> ConfigurationReading.Scope? {
        switch entry.keys.first {
        case "host", "access", "security-key": nil
        case "keychain" where entry.keys.count > 1: .keychain(entry.keys[1])
        default: .all
        }
    }

    /// The setting that applies instead of one with a wrong value: the safe one of a lock rule, or else the default.
    static func replacement(for entry: TOMLEntry) -> Setting? {
        var replaced = Configuration()
        try? replaced.apply(entry)
        let name = Setting(entry.keys, .flag(true)).name
        return replaced.settings.first { $0.name == name }
    }

    private static func safeOverride(_ entry: TOMLEntry) -> Override? {
        switch (entry.keys.count, entry.keys[0]) {
        case (2, "lock"): break
        case (4, "keychain") where entry.keys[2] == "lock": break
        default: return nil
        }
        switch entry.keys.last {
        case "on-screen-lock": return .onScreenLock(true)
        case "on-sleep": return .onSleep(true)
        case "on-session-end": return .onSessionEnd(true)
        case "idle-minutes": return .afterIdle(safeIdleTime)
        default: return nil
        }
    }

    private static let tables = ["lock", "keychain", "host", "access", "security-key"]

    private mutating func set(_ entry: TOMLEntry) throws(ConfigurationError) {
        switch entry.keys.count {
        case 1 where Configuration.tables.contains(entry.keys[0]): try entry.expectTable()
        case 2 where entry.keys[0] == "lock":
            Configuration.apply(try Configuration.override(entry), to: &lock)
        case 2 where entry.keys[0] == "host": try applyHost(entry)
        case 2 where entry.keys[0] == "access": try applyAccess(entry)
        case 2 where entry.keys == ["security-key", "folder"]: securityKeyFolder = try entry.text(startingWith: ["/"])
        case 2 where entry.keys[0] == "keychain": try entry.expectTable()
        case 3 where entry.keys[0] == "keychain" && entry.keys[2] == "lock": try entry.expectTable()
        case 4 where entry.keys[0] == "keychain" && entry.keys[2] == "lock":
            overrides[entry.keys[1], default: []].append(try Configuration.override(entry))
        default: throw entry.unknownName
        }
    }

    private mutating func applyHost(_ entry: TOMLEntry) throws(ConfigurationError) {
        switch entry.keys.last {
        case "unlock-at-start": host.unlocksAtStart = try entry.flag()
        // Other transports of tpm2-tss may start programs, or connect to any host on the network.
        case "tpm": host.tpm = try entry.text(startingWith: ["device:/", "swtpm:path=/"])
        default: throw entry.unknownName
        }
    }

    private mutating func applyAccess(_ entry: TOMLEntry) throws(ConfigurationError) {
        switch entry.keys.last {
        case "ask-at-read": access.askAtRead = try entry.programs(limit: AccessRules.programLimit)
        default: throw entry.unknownName
        }
    }

    private static func override(_ entry: TOMLEntry) throws(ConfigurationError) -> Override {
        switch entry.keys.last {
        case "on-screen-lock": .onScreenLock(try entry.flag())
        case "on-sleep": .onSleep(try entry.flag())
        case "on-session-end": .onSessionEnd(try entry.flag())
        case "idle-minutes": .afterIdle(try idleTime(entry))
        default: throw entry.unknownName
        }
    }

    /// The idle time in minutes, at most a day; zero means never.
    private static func idleTime(_ entry: TOMLEntry) throws(ConfigurationError) -> Duration? {
        let minutes = try entry.number(in: 0...1440)
        return minutes == 0 ? nil : .seconds(minutes * 60)
    }

    private static func apply(_ override: Override, to rules: inout LockRules) {
        switch override {
        case .onScreenLock(let value): rules.onScreenLock = value
        case .onSleep(let value): rules.onSleep = value
        case .onSessionEnd(let value): rules.onSessionEnd = value
        case .afterIdle(let value): rules.afterIdle = value
        case .more: (rules.onScreenLock, rules.onSleep, rules.onSessionEnd) = (true, true, true)
        }
    }
}

/// The events at which a keychain locks automatically.
package struct LockRules: Hashable, Sendable {
    /// Locks when the screen locks.
    package var onScreenLock = false

    /// Locks before the system sleeps.
    package var onSleep = false

    /// Locks when the session ends, if keychaind outlives it.
    package var onSessionEnd = true

    /// Locks after the session was idle for this long; nil for never.
    package var afterIdle: Duration?

    package init() {}
}

/// The rules for unlocking by this computer.
package struct HostRules: Hashable, Sendable {
    /// Whether the key slot of this computer, if there is one, unlocks `login` when keychaind starts.
    package var unlocksAtStart = false

    /// The TPM, as a tpm2-tss transport.
    package var tpm = "device:/dev/tpmrm0"

    package init() {}
}

/// The rules for reading items.
package struct AccessRules: Hashable, Sendable {
    /// The programs for which a read of a locked item asks a person instead of failing: file names, absolute paths, or
    /// `*` for all.
    ///
    /// By default those that take an item's attributes from what they read before they unlock it.
    package var askAtRead = ["docker-credential-secretservice", "git-credential-libsecret"]

    /// The largest number of programs in a rule.
    static let programLimit = 64

    package init() {}
}
