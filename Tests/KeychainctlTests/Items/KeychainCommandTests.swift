import Foundation
import KeychaindTestSupport
import SecretServiceClient
import Testing

@Suite("keychainctl with keychains")
struct KeychainCommandTests {
    @Test("A keychain is created, chosen, renamed, locked, opened and deleted", arguments: TestedProvider.allCases)
    func collection_life(kind: TestedProvider) async throws {
        try await Controlled.with(kind) { controlled in
            func succeeds(_ arguments: String..., input: String = "") async throws -> String {
                let result = try await controlled.run(arguments, input: Array(input.utf8))
                #expect(result.succeeded, "\(arguments): \(result.errors)")
                return result.text
            }
            _ = try await succeeds("collection", "create", "Work\u{202E}", "--password-fd", "0", input: "second")
            let again = try await controlled.run("collection", "create", "Work\u{202E}", "--password-fd", "0")
            #expect(again.status == .exited(7) && !again.errors.contains("\u{202E}"))
            let label = try await controlled.client.defaultCollection()?.label() ?? ""
            let taken = try await controlled.run("collection", "rename", "Work\u{202E}", label)
            #expect(taken.status == .exited(7), "\(taken.errors)")
            _ = try await succeeds("collection", "rename", "Work\u{202E}", "Work\u{202E}")
            _ = try await succeeds("collection", "default", "Work\u{202E}")
            #expect(try await succeeds("collection", "default") == "Work\\u{202e}\n")
            _ = try await succeeds("collection", "rename", "Work\u{202E}", "Job")
            _ = try await succeeds("set", "a=b", input: "secret")
            #expect(try await succeeds("list", "--keychain", "Job").contains("\tJob\t"))
            _ = try await succeeds("lock", "Job")
            #expect(try await controlled.run("get", "a=b", "--no-prompt").status == .exited(4))
            #expect(try await succeeds("collection").contains("Job\tlocked"))
            let wrong = try await controlled.run("unlock", "Job", "--password-fd", "0", input: "first")
            #expect(wrong.status == .exited(6), "\(wrong.errors)")
            _ = try await succeeds("unlock", "Job", "--password-fd", "0", input: "second\n")
            #expect(try await succeeds("get", "a=b") == "secret")
            #expect(try await controlled.run("collection", "delete", "Job").status == .exited(7))
            _ = try await succeeds("collection", "delete", "Job", "--with-items")
            #expect(try await controlled.run("lock", "Job").status == .exited(3))
        }
    }

    @Test("Keychains of the same name are ambiguous")
    func keychain_sameName_isAmbiguous() async throws {
        try await Controlled.with { controlled in
            _ = try await controlled.addKeychain("Twin")
            let twin = try await controlled.addKeychain("Twin")
            let result = try await controlled.run("set", "a=b", "--keychain", "Twin", input: "x")
            #expect(result.status == .exited(11) && result.errors.contains("/collection/"), "\(result.errors)")
            #expect(try await controlled.run("lock", twin.path).succeeded)
        }
    }

    @Test("A keychain that stays open is named, unless only all others are to be locked")
    func lock_staysOpen_isNamed() async throws {
        try await Controlled.with { controlled in
            let refused = try await controlled.run("lock", "session", "Login")
            #expect(refused.status == .exited(2) && refused.errors.contains("not locked: “"), "\(refused.errors)")
            #expect(!refused.errors.contains("Login"))
            #expect(try await controlled.login.isLocked())
            #expect(try await controlled.run("lock").succeeded)
        }
        let home = try ImportHome()
        _ = try home.fakeProvider()
        let bus = try await PrivateBus()
        let provider = try await home.startFakeProvider(on: bus)
        let result = try await Command.run(ImportHome.executable, ["lock"], environment: bus.environment)
        #expect(result.status == .exited(2), "\(result.errors)")
        #expect(result.errors == "keychainctl: not locked: “login”\n")
        try await provider.terminate()
    }

    @Test("A keychain that cannot be read is named where it passes for locked and its items for missing")
    func keychain_unreadable_isNamed() async throws {
        try await Controlled.with { controlled in
            try await controlled.add("Bank", ["a": "b"])
            let problem = "the keychain “Login” has a problem: "
            let other = try await controlled.run("get", "a=c")
            #expect(other.status == .exited(3) && !other.errors.contains("has a problem"), "\(other.errors)")
            try await controlled.provider.stop()
            let file = try #require(controlled.provider.dataHome) + "/keychaind/login.keychain"
            try Data("no keychain".utf8).write(to: URL(fileURLWithPath: file))
            try await controlled.provider.start()
            for (arguments, status) in [
                (["get", "a=b"], 3), (["set", "a=b"], 4), (["unlock", "login"], 4), (["slot", "list"], 4),
            ] {
                let result = try await controlled.run(arguments, input: Array("x".utf8))
                #expect(result.status == .exited(Int32(status)), "\(arguments): \(result.errors)")
                #expect(result.errors.contains(problem), "\(arguments): \(result.errors)")
                #expect(result.errors.contains("keychainctl restore"), "\(arguments): \(result.errors)")
            }
        }
    }

    @Test("The password is changed in dialogs")
    func password_changes() async throws {
        try await Controlled.with { controlled in
            let result = try await controlled.run("password", answering: .answer("password"), .answer("changed"))
            #expect(result.succeeded, "\(result.errors)")
            #expect(try await controlled.run("lock").succeeded)
            let unlock = try await controlled.run("unlock", "--password-fd", "0", input: "changed")
            #expect(unlock.succeeded, "\(unlock.errors)")
        }
    }

    @Test("A password opens each keychain that it is for, and those are named that it is wrong for")
    func unlock_wrongForSome_namesThem() async throws {
        try await Controlled.with { controlled in
            let second = try await controlled.addKeychain("Second")
            #expect(try await controlled.run("lock").succeeded)
            let result = try await controlled.run("unlock", "Login", "Second", "--password-fd", "0", input: "second")
            #expect(result.status == .exited(6), "\(result.errors)")
            #expect(result.errors == "keychainctl: the password is wrong for “Login”\n")
            #expect(try await controlled.login.isLocked())
            #expect(try await !second.isLocked())
        }
    }

    @Test("A keychain gets no empty password", arguments: TestedProvider.allCases)
    func create_emptyPassword_isRefused(kind: TestedProvider) async throws {
        try await Controlled.with(kind) { controlled in
            let before = try await controlled.client.collections().count
            for (input, status) in [("", 5), ("\n", 7)] {
                let result = try await controlled.run("collection", "create", "New", "--password-fd", "0", input: input)
                #expect(result.status == .exited(Int32(status)), "\(result.errors)")
            }
            #expect(try await controlled.client.collections().count == before)
        }
    }

    @Test("Ctrl-C ends the wait for a password on a descriptor")
    func passwordOnDescriptor_interrupted_isCancelled() async throws {
        try await Controlled.with { controlled in
            for command in ["unlock", "collection create New"] { try await interrupt(command, controlled) }
        }
    }

    private func interrupt(_ command: String, _ controlled: Controlled) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("password")
        try #require(mkfifo(path, 0o600) == 0)
        // Open for both, so that opening waits for nobody, and the input has no end.
        let fifo = open(path, O_RDWR | O_CLOEXEC)
        try #require(fifo >= 0)
        defer { close(fifo) }
        #expect(write(fifo, "p", 1) == 1)
        let process = try ChildProcess(
            "/bin/bash",
            ["-c", "exec \"$0\" \(command) --password-fd 3 3<\"$1\"", ImportHome.executable, path],
            environment: controlled.provider.bus.environment
        )
        try await eventually("the first byte is read") {
            var event = pollfd(fd: fifo, events: Int16(POLLIN), revents: 0)
            return poll(&event, 1, 0) == 0
        }
        process.send(SIGINT)
        #expect(try await process.waitForExit() == .exited(5))
    }

    @Test("Key slots are listed, added and removed; the last password stays")
    func slot_life() async throws {
        try await Controlled.with { controlled in
            let arguments = ["slot", "add", "--password", "--label", "Spare\u{1B}"]
            let prompter = try await controlled.provider.answerPrompts(.answer("password"), .answer("other"))
            let added = try await controlled.run(arguments, input: [])
            #expect(added.succeeded, "\(added.errors)")
            try await prompter.end()
            let list = try await controlled.run("slot")
            #expect(list.text.contains("password\t") && list.text.contains("Spare\\u{1b}"))
            let number = try #require(list.text.split(separator: "\n").last?.split(separator: "\t").first)
            let removed = try await controlled.run("slot", "remove", String(number), answering: .answer("password"))
            #expect(removed.succeeded, "\(removed.errors)")
            let last = try await controlled.run("slot", "remove", "1")
            #expect(last.status == .exited(7), "\(last.errors)")
            #expect(try await controlled.run("slot", "remove", "99").status == .exited(3))
            #expect(try await controlled.run("slot", "add", "--tpm").status == .exited(7))
        }
    }

    @Test("The status says what keychaind knows; of another provider what the standard allows")
    func status_saysWhatIsKnown() async throws {
        try await Controlled.with { controlled in
            #expect(try await controlled.run("lock").succeeded)
            #expect(try await controlled.run("unlock", "--password-fd", "0", input: "password").succeeded)
            #expect(try await controlled.run("backup").succeeded)
            let text = try await controlled.run("status").text
            #expect(text.contains("keychaind ") && text.contains("Login\topened by its password\t0\tyes"), "\(text)")
            let json = try await controlled.run("status", "--json")
            let status = try #require(try JSONSerialization.jsonObject(with: Data(json.output)) as? [String: Any])
            let own = try #require(status["keychaind"] as? [String: Any])
            #expect(own["last-backup"] is Int && own["domain"] as? Bool == false && own["reader"] as? String == "none")
            #expect((status["keychains"] as? [[String: Any]])?.count == 2)
        }
        try await Controlled.with(.gnomeKeyring) { controlled in
            let result = try await controlled.run("status")
            #expect(result.succeeded && result.text.contains("Not keychaind"), "\(result.errors)")
            #expect(result.text.contains("gnome-keyring-daemon"))
        }
    }

    @Test("The status says that there is a TPM where the configuration names one")
    func status_configuredTPM_isThere() async throws {
        let tpm = try await SoftwareTPM()
        let folder = try ConfigurationFolder("[host]\ntpm = \"\(tpm.transport)\"\n")
        var options = KeychainDaemon.Options()
        options.environment = folder.environment
        try await RunningService.withService(options) { service in
            func status() async throws -> String {
                try await Command.run(ImportHome.executable, ["status"], environment: service.bus.environment).text
            }
            #expect(try await status().contains(/TPM +yes\n/))
            try await tpm.remove()
            #expect(try await status().contains("keychaind "))
        }
    }

    @Test("The status says that nobody knows of backups where they cannot be listed, and why")
    func status_copiesCannotBeListed_saysSo() async throws {
        try await Controlled.with { controlled in
            #expect(try await controlled.run("status").text.contains(/Last backup +none\n/))
            let folder = try #require(controlled.provider.dataHome) + "/keychaind/backup"
            try Data().write(to: URL(fileURLWithPath: folder))
            let result = try await controlled.run("status")
            #expect(result.text.contains(/Last backup +not known: .*Not a directory/), "\(result.text)")
            #expect(try await controlled.run("status", "--json").text.contains("Not a directory"))
        }
    }

    @Test("Watching shows changes as they happen, until Ctrl-C or the end of the bus")
    func watch_showsChanges() async throws {
        try await Controlled.with { controlled in
            let process = try ChildProcess(
                ImportHome.executable,
                ["watch", "--json"],
                environment: controlled.provider.bus.environment
            )
            let lines = process.standardOutput.lines
            // Repeated until the subscription is there.
            try await eventually("a change") {
                try await controlled.add("Evil\u{1B}[2J", ["a": "b"]).delete()
                return lines.all.contains { $0.contains("item-deleted") }
            }
            #expect(!lines.all.joined().contains("\u{1B}"))
            process.send(SIGINT)
            #expect(try await process.waitForExit() == .exited(5))
        }
    }

    @Test("A command that ignores hangups from its start, as by nohup, goes on after one")
    func watch_hangupIgnored_goesOn() async throws {
        try await Controlled.with { controlled in
            let process = try ChildProcess(
                "/bin/bash",
                ["-c", "trap '' HUP; exec \"$0\" watch", ImportHome.executable],
                environment: controlled.provider.bus.environment
            )
            let lines = process.standardOutput.lines
            // Repeated until the subscription is there.
            try await eventually("a change") {
                try await controlled.add("Before", ["a": "b"]).delete()
                return !lines.all.isEmpty
            }
            process.send(SIGHUP)
            try await controlled.add("After the hangup", ["a": "c"])
            _ = try await lines.first("a change after the hangup") { $0.contains("After the hangup") }
            process.send(SIGTERM)
            #expect(try await process.waitForExit() == .exited(5))
        }
    }
}
