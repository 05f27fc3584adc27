import KeychaindConfiguration
import Testing

/// Settings and mistakes of a configuration.
struct ConfigurationTests {
    private func parse(_ text: String) throws(ConfigurationError) -> Configuration {
        try Configuration(parsing: Array(text.utf8))
    }

    // MARK: Rules

    @Test(arguments: ["", "\n", "# nothing\n", "[lock]", "[keychain]", "[keychain.work]", "[keychain.work.lock]\n"])
    func parse_empty_isDefault(text: String) throws {
        let rules = try parse(text).lockRules(of: "work")
        #expect(rules == Configuration().lock)
        #expect(!rules.onScreenLock && !rules.onSleep && rules.onSessionEnd && rules.afterIdle == nil)
    }

    @Test
    func parse_allSettings_areRead() throws {
        let configuration = try parse(
            """
            [lock]
            on-screen-lock = true
            on-sleep = true
            on-session-end = false
            idle-minutes = 30
            """
        )
        #expect(configuration.lock.onScreenLock && configuration.lock.onSleep && !configuration.lock.onSessionEnd)
        #expect(configuration.lock.afterIdle == .seconds(1800))
        #expect(configuration.locksOnSleep)
        #expect(configuration.lockRules(of: "login") == configuration.lock)
    }

    @Test
    func parse_host_isRead() throws {
        #expect(try parse("").host == HostRules())
        #expect(!HostRules().unlocksAtStart && HostRules().tpm == "device:/dev/tpmrm0")
        let host = try parse("[host]\nunlock-at-start = true\ntpm = 'swtpm:path=/run/tpm'\n").host
        #expect(host.unlocksAtStart && host.tpm == "swtpm:path=/run/tpm")
    }

    @Test(arguments: ["cmd:true", "mssim:host=example.org", "device", "", "swtpm:host=example.org"])
    func parse_otherTransport_isRefused(transport: String) {
        #expect(throws: ConfigurationError.self) { _ = try parse("[host]\ntpm = '\(transport)'\n") }
    }

    @Test
    func lockRules_ofOneKeychain_overrideDefaults() throws {
        let configuration = try parse(
            """
            lock.idle-minutes = 5
            [keychain."My keys é".lock]
            on-sleep = true
            idle-minutes = 0
            [keychain.login]
            lock = { on-screen-lock = true }
            """
        )
        var own = configuration.lock
        own.onSleep = true
        own.afterIdle = nil
        #expect(configuration.lockRules(of: "My keys é") == own)
        #expect(configuration.keychains.contains("My keys é"))
        #expect(configuration.lockRules(of: "login").onScreenLock)
        #expect(configuration.lockRules(of: "login").afterIdle == .seconds(300))
        #expect(!configuration.lock.onSleep)
        #expect(configuration.locksOnSleep)
    }

    // MARK: Mistakes

    @Test(
        arguments: [
            ("[lock]\non-screen-lock = treu\n", ConfigurationError.Code.syntax, 2, 20),
            ("[lock\n", .syntax, 1, 6),
            ("[lock]\non-sleep = true\non-sleep = false", .syntax, 3, 12),
            ("[lock]\n  on-slepe = true", .unknownName, 2, 3),
            ("[lokc]\non-sleep = true", .unknownName, 2, 1),
            ("[lokc]", .unknownName, 1, 2),
            ("on-sleep = true", .unknownName, 1, 1),
            ("[keychain.work]\ncolour = 1", .unknownName, 2, 1),
            ("[keychain.work.lock]\ncolour = 1", .unknownName, 2, 1),
            ("[lock.lock]\non-sleep = true", .unknownName, 2, 1),
            ("[lock]\non-sleep = \"yes\"", .wrongType, 2, 12),
            ("[lock]\non-sleep = 1", .wrongType, 2, 12),
            ("[lock]\nidle-minutes = 1.5", .wrongType, 2, 16),
            ("[lock]\nidle-minutes = [1]", .wrongType, 2, 16),
            ("lock = true", .wrongType, 1, 8),
            ("[keychain]\nwork = []", .wrongType, 2, 8),
            ("[lock]\nidle-minutes = -1", .outOfRange, 2, 16),
            ("[lock]\nidle-minutes = 1441", .outOfRange, 2, 16),
            ("[lock]\nidle-minutes = 9223372036854775807", .outOfRange, 2, 16),
        ] as [(String, ConfigurationError.Code, Int, Int)]
    )
    func parse_mistake_isReportedWithPlace(text: String, code: ConfigurationError.Code, line: Int, column: Int) {
        let error = #expect(throws: ConfigurationError.self) { _ = try parse(text) }
        #expect(error?.code == code)
        #expect(error?.place == ConfigurationError.Place(line: line, column: column), "\(error?.description ?? "")")
        #expect(error?.description.hasPrefix("\(line):\(column): ") == true)
        #expect(error?.reason.isEmpty == false)
    }

    @Test
    func parse_tooLong_isRefused() {
        let text = [UInt8](repeating: UInt8(ascii: "\n"), count: Configuration.limit + 1)
        #expect(throws: ConfigurationError(.tooLarge, at: .init(line: 1, column: 1), reason: "")) {
            _ = try Configuration(parsing: text)
        }
    }

    @Test(
        arguments: [
            ("\0", 1), ("lock = {", 1), ("a = \"\\u0000\"", 1), ("[keychain.\"a\\u0000b\".lock]\nx = 1", 1),
            ("[", 16_000),
            ("x = [", 3000), ("a.", 8000), ("[a.", 5000), ("{", 100), ("'", 5), ("\"\"\"", 3), ("x = {a = ", 1500),
        ]
    )
    func parse_garbage_fails(piece: String, count: Int) {
        #expect(throws: ConfigurationError.self) { _ = try parse(String(repeating: piece, count: count)) }
    }

    @Test
    func parse_notUTF8_fails() {
        #expect(throws: ConfigurationError.self) { _ = try Configuration(parsing: [0xFF, 0xFE]) }
    }

    @Test
    func parse_nestedTables_areUnknown() {
        let text = String(repeating: "a.", count: 8000) + "a = 1"
        let error = #expect(throws: ConfigurationError.self) { _ = try parse(text) }
        #expect(error?.code == .unknownName)
    }
}
