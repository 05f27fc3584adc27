/// What `config.toml` says.
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
package struct Configuration: Hashable, Sendable {
    /// The longest text that is read, in bytes; small, since tables can be in each other, and each takes some of the stack.
    package static let limit = 16 << 10

    /// The rules of all keychains that have none of their own.
    package private(set) var lock = LockRules()

    /// What this computer may do by itself.
    package private(set) var host = HostRules()

    private var overrides: [String: [Override]] = [:]

    /// A rule of one keychain; what it does not say is as for all.
    private enum Override: Hashable, Sendable {
        case onScreenLock(Bool)
        case onSleep(Bool)
        case onSessionEnd(Bool)
        case afterIdle(Duration?)
    }

    /// What holds without a file.
    package init() {}

    /// Reads a file's content; one mistake, and nothing of it counts.
    package init(parsing text: [UInt8]) throws(ConfigurationError) {
        guard text.count <= Configuration.limit else {
            throw ConfigurationError(
                .tooLarge,
                at: .init(line: 1, column: 1),
                reason: "a configuration has at most \(Configuration.limit) bytes"
            )
        }
        for entry in try TOMLEntry.parse(text) {
            try apply(entry)
        }
    }

    /// The rules of a keychain, by its name.
    package func lockRules(of keychain: String) -> LockRules {
        var rules = lock
        for override in overrides[keychain] ?? [] {
            Configuration.apply(override, to: &rules)
        }
        return rules
    }

    /// The names of the keychains that have rules of their own.
    package var keychains: Set<String> { Set(overrides.keys) }

    /// Whether any keychain is to be locked before the machine sleeps.
    package var locksOnSleep: Bool {
        lock.onSleep || overrides.keys.contains { lockRules(of: $0).onSleep }
    }

    /// After how long a time of idleness some keychain is to be locked, each once.
    package var idleTimes: Set<Duration> {
        Set(([lock] + overrides.keys.map(lockRules)).compactMap(\.afterIdle))
    }

    // MARK: Reading

    private mutating func apply(_ entry: TOMLEntry) throws(ConfigurationError) {
        switch entry.keys.count {
        case 1 where ["lock", "keychain", "host"].contains(entry.keys[0]): try entry.expectTable()
        case 2 where entry.keys[0] == "lock":
            Configuration.apply(try Configuration.override(entry), to: &lock)
        case 2 where entry.keys[0] == "host": try applyHost(entry)
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
        // Not every transport of tpm2-tss: some start programs, or take the first that answers on the network.
        case "tpm": host.tpm = try entry.text(startingWith: ["device:/", "swtpm:path=/"])
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

    /// Zero is never; a day is the most that makes sense, and keeps the sum of seconds small.
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
        }
    }
}
