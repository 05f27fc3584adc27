import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Access control with clients that do not know it.
struct ClientProgramAccessTests {
    @Test("secret-tool stores an item with an access control, and each lookup asks")
    func secretTool_storesUnderAnAccessControl_andEachLookupAsks() async throws {
        try await RunningService.withPrompter([.answer("password"), .answer("password"), .cancel]) {
            service,
            prompter in
            func tool(_ arguments: String..., input: String = "") async throws -> CommandResult {
                try await Command.run(
                    "secret-tool",
                    arguments,
                    environment: service.daemon.environment,
                    input: Array(input.utf8)
                )
            }
            let stored = try await tool(
                "store",
                "--label=Bank",
                "service",
                "bank",
                "keychain:access-control",
                "userPresence",
                input: "1234"
            )
            #expect(stored.succeeded, "\(stored.errors)")
            #expect(prompter.questions.count == 0)
            #expect(try await tool("lookup", "service", "bank").output == Array("1234".utf8))
            #expect(prompter.questions.count == 1)
            // Another process is another caller.
            #expect(try await tool("lookup", "service", "bank").output == Array("1234".utf8))
            #expect(prompter.questions.count == 2)
            let refused = try await tool("lookup", "service", "bank")
            #expect(refused.output.isEmpty && !refused.succeeded)
            // Storing again asks too, and a refusal changes nothing.
            _ = try await tool("store", "--label=New", "service", "bank", input: "5678")
            #expect(prompter.questions.count == 4)
            let item = try #require(try await service.client.searchItems(["service": "bank"]).locked.first)
            #expect(try await service.client.label(of: item) == "Bank")
            _ = try await tool("clear", "service", "bank")
            #expect(try await service.client.items(of: .login) == [item])
        }
    }

    @Test("secretstorage sees the locked item, unlocks and reads it")
    func secretStorage_seesTheLock_unlocksAndReads() async throws {
        try await RunningService.withPrompter { service, prompter in
            let result = try await Command.python(
                """
                import secretstorage
                connection = secretstorage.dbus_init()
                collection = secretstorage.get_default_collection(connection)
                attributes = {'app': 'python', 'keychain:access-control': 'devicePasscode'}
                item = collection.create_item('label', attributes, b'secret')
                assert not collection.is_locked() and item.is_locked()
                try:
                    item.get_secret()
                    raise SystemExit('read a locked item')
                except secretstorage.exceptions.LockedException:
                    pass
                assert item.unlock() is False
                assert not item.is_locked() and item.get_secret() == b'secret'
                item.set_label('new')
                item.set_secret(b'other')
                again = next(collection.search_items({'app': 'python'}))
                assert again.get_secret() == b'other' and again.get_label() == 'new'
                other = secretstorage.dbus_init()
                theirs = next(secretstorage.search_items(other, {'app': 'python'}))
                assert theirs.is_locked()
                item.delete()
                assert not list(collection.search_items({'app': 'python'}))
                """,
                environment: service.daemon.environment
            )
            #expect(result.succeeded, "\(result.errors)")
            // One dialog each to use, rename, replace and delete it.
            let asked = prompter.questions.all.compactMap { $0.text("message") }
            #expect(asked.count == 4)
            for (message, words) in zip(asked, ["use “label”", "rename “label” to “new”", "secret of", "delete “new”"])
            {
                #expect(message.contains(words))
            }
        }
    }
}
