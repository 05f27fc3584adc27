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

    @Test
    func parse_askAtRead_isRead() throws {
        #expect(try parse("[access]").access == AccessRules())
        #expect(try parse("[access]\nask-at-read = []").access.askAtRead.isEmpty)
        #expect(try parse("[access]\nask-at-read = \"*\"").access.askAtRead == ["*"])
        let programs = try parse("access.ask-at-read = ['seahorse', \"/opt/a b/é\"]").access.askAtRead
        #expect(programs == ["seahorse", "/opt/a b/é"])
    }

    @Test
    func parse_securityKeyFolder_isAnAbsolutePath() throws {
        #expect(try parse("").securityKeyFolder.isEmpty)
        #expect(try parse("[security-key]\nfolder = '/run/keys'\n").securityKeyFolder == "/run/keys")
        for text in ["folder = 'keys'", "folder = 1", "device = '/dev/hidraw0'"] {
            #expect(throws: ConfigurationError.self) { _ = try parse("[security-key]\n\(text)\n") }
        }
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
            ("[access]\nask-at-read = true", .wrongType, 2, 15),
            ("[access]\nask-at-read = \"seahorse\"", .wrongType, 2, 15),
            ("[access]\nask-at-read = [\"a\", 1]", .wrongType, 2, 15),
            ("[access]\nask-at-read = [\"\"]", .outOfRange, 2, 15),
            ("[access]\nask-at-read = [\"bin/git\"]", .outOfRange, 2, 15),
            ("[access]\nask-at-raed = []", .unknownName, 2, 1),
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
            ("[", 16_000), ("x = [", 3000), ("{", 100), ("'", 5), ("\"\"\"", 3), ("x = {a = ", 1500),
        ]
    )
    func parse_garbage_fails(piece: String, count: Int) {
        #expect(throws: ConfigurationError.self) { _ = try parse(String(repeating: piece, count: count)) }
    }

    @Test(arguments: [("a.", 8000), ("[a.", 5000)])
    func parse_nestedGarbage_fails(piece: String, count: Int) {
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

    // MARK: The rest of a file with mistakes

    private func read(_ text: String) -> ConfigurationReading { ConfigurationReading(of: Array(text.utf8)) }

    @Test
    func read_noTOMLInALine_leavesTheOthersInForce() {
        let reading = read(
            """
            [lock]
            on-screen-lock = treu
            idle-minutes = 5
            on-session-end = false
            [host]
            unlock-at-start = true
            tpm = 1
            """
        )
        #expect(reading.mistakes.map(\.place.line) == [2, 7])
        let rules = reading.configuration.lock
        // What the second line was about is not known.
        #expect(rules.onScreenLock && rules.onSleep)
        #expect(!rules.onSessionEnd && rules.afterIdle == .seconds(300))
        #expect(reading.configuration.host.unlocksAtStart)
    }

    @Test
    func read_lockRuleWithAWrongValue_isTheSafeOne() {
        let reading = read("[lock]\non-sleep = 0\n[keychain.work.lock]\nidle-minutes = 2000\n")
        #expect(reading.mistakes.map(\.code) == [.wrongType, .outOfRange])
        #expect(reading.configuration.lock.onSleep && !reading.configuration.lock.onScreenLock)
        #expect(reading.configuration.lock.afterIdle == nil)
        #expect(reading.configuration.lockRules(of: "work").afterIdle == .seconds(900))
    }

    @Test
    func read_unknownName_locksMoreWhereItMayBeALockRule() {
        let reading = read("[keychain.work.lock]\non-slepe = true\non-screen-lock = false\n[host]\nx = 1\n")
        #expect(reading.mistakes.map(\.code) == [.unknownName, .unknownName])
        let rules = reading.configuration.lockRules(of: "work")
        #expect(rules.onSleep && !rules.onScreenLock)
        #expect(reading.configuration.lock == LockRules())
        #expect(read("[lokc]\non-sleep = true\n").configuration.lock.onScreenLock)
    }

    @Test
    func read_mistakeInAccess_isTheDefaultAndLocksNoMore() {
        let reading = read("[access]\nask-at-read = 1\nx = 1\n")
        #expect(reading.mistakes.count == 2 && reading.configuration == Configuration())
    }

    /// Its settings would belong to the table before.
    @Test
    func read_brokenTable_isLeftOutWithItsSettings() {
        let text = "[host]\n[lock\non-sleep = false\nunlock-at-start = true\n[keychain.a.lock]\non-sleep = false\n"
        let reading = read(text)
        #expect(reading.mistakes.map(\.place.line) == [2])
        #expect(reading.configuration.lock.onSleep && !reading.configuration.host.unlocksAtStart)
        #expect(!reading.configuration.lockRules(of: "a").onSleep)
    }

    @Test(arguments: ["\0\n", "[lock\n", "x = [\n", "\"\"\"\n", "[[lock]]\n", "a = 1\n", "\u{FEFF}\n"])
    func read_nothingButMistakes_locksMoreInBoundedTries(line: String) {
        let reading = read(String(repeating: line, count: 1000))
        #expect((1...32).contains(reading.mistakes.count))
        #expect(reading.configuration.lock.onScreenLock && reading.configuration.lock.onSleep)
    }

    @Test
    func read_tooLong_locksMore() {
        let reading = read(String(repeating: "#", count: Configuration.limit + 1))
        #expect(reading.mistakes.map(\.code) == [.tooLarge])
        #expect(reading.configuration == .unreadable)
    }
}
