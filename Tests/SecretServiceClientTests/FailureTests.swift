import KeychaindDBus
import KeychaindTestSupport
import SecretServiceClient
import Synchronization
import Testing

struct FailureTests {
    @Test(arguments: TestedProvider.allCases)
    func call_providerDoesNothing_timesOut(provider: TestedProvider) async throws {
        try await provider.withProvider { provider, _ in
            let client = try await provider.makeClient { $0.callTimeout = .milliseconds(100) }
            provider.pause()
            #expect(try await code { try await client.collections() } == .timedOut)
            try await provider.kill()
        }
    }

    @Test(arguments: TestedProvider.allCases)
    func call_cancelled_endsAtOnce(provider: TestedProvider) async throws {
        try await provider.withProvider { provider, client in
            provider.pause()
            let calling = Task { try await code { try await client.collections() } }
            calling.cancel()
            #expect(try await calling.value == .cancelled)
            try await provider.kill()
        }
    }

    @Test(arguments: TestedProvider.allCases)
    func call_providerDies_isProviderGone(provider: TestedProvider) async throws {
        try await provider.withProvider { provider, client in
            provider.pause()
            let calls = (0..<3).map { _ in
                Task { try await code { try await client.collections() } }
            }
            // Earlier messages have reached the bus.
            _ = try await code {
                try await provider.makeClient { $0.callTimeout = .milliseconds(1) }.collections()
            }
            try await provider.kill()
            for call in calls {
                #expect([.providerGone, .providerUnavailable].contains(try await call.value))
            }
            #expect(
                try await code {
                    try await client.collections()
                } == .providerUnavailable
            )
        }
    }

    @Test("After a restart of the provider, a new session is opened", arguments: TestedProvider.allCases)
    func call_providerHasRestarted_works(provider: TestedProvider) async throws {
        try await provider.withProvider { provider, client in
            let (item, attributes) = try await client.makeItem()
            try await provider.restart()
            let found = try await client.search(attributes)
            #expect(found.all.count == 1)
            #expect(try await found.all.first?.secret().text == "secret")
            #expect(item.client === client)
        }
    }

    @Test(
        "Each D-Bus error has a code",
        arguments: [
            ("org.freedesktop.Secret.Error.IsLocked", .locked),
            ("org.freedesktop.Secret.Error.NoSession", .noSession),
            ("org.freedesktop.Secret.Error.NoSuchObject", .noSuchObject),
            ("org.freedesktop.Secret.Error.AlreadyExists", .alreadyExists),
            ("org.freedesktop.DBus.Error.UnknownObject", .noSuchObject),
            ("org.freedesktop.DBus.Error.UnknownMethod", .noSuchObject),
            ("org.freedesktop.DBus.Error.UnknownInterface", .notSupported),
            ("org.freedesktop.DBus.Error.NotSupported", .notSupported),
            ("org.freedesktop.DBus.Error.InvalidArgs", .invalidArguments),
            ("org.freedesktop.DBus.Error.PropertyReadOnly", .invalidArguments),
            ("org.freedesktop.DBus.Error.LimitsExceeded", .limitExceeded),
            ("org.freedesktop.DBus.Error.AccessDenied", .accessDenied),
            ("org.gnome.keyring.Error.Denied", .accessDenied),
            ("org.freedesktop.DBus.Error.Timeout", .timedOut),
            ("org.freedesktop.DBus.Error.NoReply", .providerGone),
            ("org.freedesktop.DBus.Error.Failed", .providerFailed),
            ("com.example.Unheard", .providerFailed),
        ] as [(String, SecretServiceError.Code)]
    )
    func error_answered_hasItsCode(name: String, expected: SecretServiceError.Code) async throws {
        let provider = try await ScriptedProvider { (_, _) throws(BusError) in
            throw BusError(ErrorName(rawValue: name), "what it says")
        }
        let client = try await provider.makeClient()
        do throws(SecretServiceError) {
            _ = try await client.collections()
            Issue.record("it did not fail")
        } catch {
            #expect(error.code == expected)
            if expected != .providerGone {
                #expect(error.errorName == name && error.reason == "what it says")
                #expect("\(error)" == "\(expected): what it says")
            }
        }
    }

    @Test("A reply of the wrong types is an invalid answer, for every call")
    func answer_wrongTypes_isInvalid() async throws {
        let provider = try await ScriptedProvider { (call, _) throws(BusError) in
            switch call.member {
            case "OpenSession": try ScriptedProvider.plainSession(call)
            default: call.reply(with: UInt32(7))
            }
        }
        let client = try await provider.makeClient { $0.encryption = .none }
        let item = try client.item(at: ScriptedProvider.item)
        let collection = try client.collection(at: "/org/freedesktop/secrets/collection/login")
        let operations: [() async throws -> Void] = [
            { _ = try await client.collections() },
            { _ = try await client.search([:]) },
            { _ = try await client.defaultCollection() },
            { _ = try await client.createCollection(label: "") },
            { try await client.forEachSecret(of: [item]) { _, _ in } },
            { _ = try await item.secret() },
            { _ = try await item.properties() },
            { _ = try await item.label() },
            { try await item.unlock() },
            { try await item.delete() },
            { _ = try await collection.items() },
            { _ = try await collection.search([:]) },
            {
                _ = try await collection.createItem(label: "", attributes: [:], secret: try Secret(""))
            },
        ]
        for operation in operations {
            #expect(try await code(of: operation) == .invalidAnswer)
        }
    }

    @Test
    func secret_ofAnotherSession_isInvalid() async throws {
        let provider = try await ScriptedProvider { (call, _) throws(BusError) in
            guard call.member == "GetSecret" else { return try ScriptedProvider.plainSession(call) }
            call.reply(with: WireSecret(session: .root, value: [1]))
        }
        let item = try await provider.makeClient { $0.encryption = .none }.item(at: ScriptedProvider.item)
        #expect(try await code { try await item.secret() } == .invalidAnswer)
    }

    @Test(
        "A degenerate public key is refused",
        arguments: [[], [0], [1], [UInt8](repeating: 0xff, count: 128), [UInt8](repeating: 1, count: 5000)]
    )
    func session_badPublicKey_isRefused(key: [UInt8]) async throws {
        let provider = try await ScriptedProvider { (call, _) throws(BusError) in
            call.reply(with: Variant.bytes(ByteArray(key)), ScriptedProvider.session)
        }
        let item = try await provider.makeClient().item(at: ScriptedProvider.item)
        #expect(try await code { try await item.secret() } == .cryptographyFailed)
    }

    @Test
    func prompt_resultOfTheWrongType_isInvalid() async throws {
        let provider = try await ScriptedProvider { (call, provider) throws(BusError) in
            switch call.member {
            case "Unlock":
                call.reply(with: [ObjectPath](), ObjectPath(unchecked: "/p"))
            case "Prompt":
                call.reply()
                provider.complete(call, .string("nonsense"))
            default:
                call.reply()
            }
        }
        let item = try await provider.makeClient().item(at: ScriptedProvider.item)
        #expect(try await code { try await item.unlock() } == .invalidAnswer)
    }

    @Test("A program that holds all contexts it may have can add to a locked collection")
    func createItem_noContextIsLeft_unlocksWithoutOne() async throws {
        let collection = ObjectPath(unchecked: "/org/freedesktop/secrets/collection/login")
        let isLocked = Mutex(true)
        let provider = try await ScriptedProvider { (call, _) throws(BusError) in
            switch call.member {
            case "OpenSession": try ScriptedProvider.plainSession(call)
            case "CreateContext": throw BusError(.limitsExceeded, "")
            case "Unlock":
                isLocked.withLock { $0 = false }
                call.reply(with: [collection], ObjectPath.root)
            default:
                guard isLocked.withLock({ !$0 }) else {
                    throw BusError(ErrorName(rawValue: "org.freedesktop.Secret.Error.IsLocked"), "")
                }
                call.reply(with: ObjectPath(unchecked: ScriptedProvider.item), ObjectPath.root)
            }
        }
        let client = try await provider.makeClient { $0.encryption = .none }
        let locked = try client.collection(at: collection.rawValue)
        let item = try await locked.createItem(label: "", attributes: [:], secret: try Secret(""))
        #expect(item.path == ScriptedProvider.item)
    }

    @Test("Another program cannot complete a prompt")
    func prompt_completedByAStranger_isIgnored() async throws {
        let prompted = Recorder<Void>()
        let provider = try await ScriptedProvider { (call, _) throws(BusError) in
            switch call.member {
            case "Unlock":
                call.reply(with: [ObjectPath](), ObjectPath(unchecked: "/p"))
            case "Prompt":
                call.reply()
                prompted.record(())
            default:
                call.reply()
            }
        }
        let client = try await provider.makeClient()
        let item = try client.item(at: ScriptedProvider.item)
        let unlocking = Task { try await code { try await item.unlock() } }
        _ = try await prompted.first("the prompt")
        let stranger = try await provider.bus.connect()
        try await stranger.completeFalsely(ObjectPath(unchecked: "/p"), ObjectPath(unchecked: item.path))
        // The stranger's messages arrive before this reply.
        try await client.setAlias("a", to: nil)
        unlocking.cancel()
        #expect(try await unlocking.value == .cancelled)
    }
}
