import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Clients that do not know keychaind.
struct ClientProgramTests {
    @Test("#16 #61 secret-tool stores, looks up, searches and clears on a fresh account, through one prompt")
    func secretTool_onAFreshAccount_works() async throws {
        try await RunningService.withService(KeychainDaemon.Options(password: nil)) { service in
            let prompter = try await FakePrompter(on: service.bus, [.answer("chosen")])
            func tool(_ arguments: String..., input: String = "") async throws -> CommandResult {
                try await Command.run(
                    "secret-tool",
                    arguments,
                    environment: service.daemon.environment,
                    input: Array(input.utf8)
                )
            }
            #expect(try await tool("store", "--label=My label", "site", "example", input: "pass word\n").succeeded)
            #expect(try await tool("lookup", "site", "example").output == Array("pass word\n".utf8))
            let found = try await tool("search", "--all", "site", "example")
            #expect((found.text + found.errors).contains("label = My label"))
            #expect(try await tool("lookup", "site", "other").status == .exited(1))
            #expect(try await tool("clear", "site", "example").succeeded)
            #expect(try await tool("lookup", "site", "example").status == .exited(1))
            #expect(prompter.questions.count == 1)
        }
    }

    @Test("#37 #44 #58 #70 Python's SecretStorage works, which opens a session for each item and closes none")
    func secretStorage_works() async throws {
        try await RunningService.withService { service in
            let prompter = try await FakePrompter(on: service.bus, [.answer("password")])
            let result = try await Command.python(
                """
                import secretstorage
                connection = secretstorage.dbus_init()
                collection = secretstorage.get_default_collection(connection)
                assert not collection.is_locked()
                item = collection.create_item('label', {'app': 'python'}, b'\\x00secret\\xff', replace=True)
                assert item.get_secret() == b'\\x00secret\\xff'
                again = collection.create_item('new', {'app': 'python'}, b'other', replace=True)
                assert again.item_path == item.item_path and item.get_label() == 'new'
                collection.lock()
                assert collection.is_locked() and item.is_locked()
                assert list(collection.search_items({'app': 'python'}))[0].item_path == item.item_path
                assert collection.unlock() is False
                assert item.get_secret() == b'other'
                for number in range(40):
                    assert secretstorage.Item(connection, item.item_path).get_secret() == b'other', number
                made = secretstorage.create_collection(connection, 'Made', alias='made')
                assert made.collection_path.endswith('/collection/Made'), made.collection_path
                assert secretstorage.get_collection_by_alias(connection, 'made').get_label() == 'Made'
                made.delete()
                item.delete()
                assert not list(secretstorage.search_items(connection, {'app': 'python'}))
                """,
                environment: service.daemon.environment
            )
            #expect(result.succeeded, "\(result.errors)")
            await prompter.crash()
        }
    }
}
