import Foundation
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Remains of secrets and passwords in the memory of an idle daemon, without traffic that would overwrite them.
// Only root can read the daemon's memory.
@Suite(.enabled(if: getuid() == 0, "the daemon's memory can be read by root only"))
struct IdleMemoryTests {
    /// The session algorithm.
    enum Algorithm: CaseIterable {
        case plain
        case encrypted
    }

    // The last one is in blocks that are emptied instead of overwritten.
    private static let sizes = [64, 2 << 10, 100 << 10, 2 << 20, 9 << 20]
    private static let transfers = sizes.flatMap { size in Algorithm.allCases.map { (size, $0) } }

    @Test("control: a scan finds a value that is in memory")
    func scan_findsWhatIsThere() async throws {
        let service = try await RunningService()
        let (label, mark) = (Mark(), Mark())
        // Labels are in memory while the keychain is unlocked.
        _ = try await service.client.createItem(
            label.password,
            secret: mark.password,
            session: service.client.openPlainSession()
        )
        let memory = DaemonMemory(of: service.daemon)
        try await eventually("the label to be found") {
            // A mapping may end while it is read.
            do {
                return try await !memory.places(of: [label.text]).isEmpty
            } catch is DaemonMemory.Unreadable {
                return false
            }
        }
        try await memory.waitUntilGone(mark, what: "the secret")
        try await service.daemon.stop()
    }

    @Test("no secret remains after its use", arguments: transfers.sample(oneIn: 3))
    func secrets_areGone(size: Int, algorithm: Algorithm) async throws {
        let service = try await RunningService()
        let prompter = try await FakePrompter(on: service.bus, [.answer("password")])
        let channel = try await SecretChannel(algorithm, service.client)
        let client = service.client
        let memory = DaemonMemory(of: service.daemon)
        var mark = Mark()

        let properties = SecretServiceProxy.itemProperties(label: "open", ["kind": "open"])
        let item = try await client.createItem(properties: properties, secret: channel.seal(mark, size)).item
        try await memory.waitUntilGone(mark, what: "what CreateItem brought")

        #expect(try await channel.open(client.secret(of: item, session: channel.path)) == mark.secret(of: size))
        try await memory.waitUntilGone(mark, what: "what GetSecret gave")

        let secrets = try await client.secrets(of: [item], session: channel.path)
        #expect(try channel.open(#require(secrets[item])) == mark.secret(of: size))
        try await memory.waitUntilGone(mark, what: "what GetSecrets gave")

        let old = mark
        mark = Mark()
        try await client.setSecret(channel.seal(mark, size), of: item)
        try await memory.waitUntilGone(mark, old, what: "what SetSecret brought and replaced")

        mark = Mark()
        let replacing = try channel.seal(mark, size)
        #expect(try await client.createItem(properties: properties, secret: replacing, replace: true).item == item)
        try await memory.waitUntilGone(mark, what: "what replaced an item")

        mark = Mark()
        let attributes = ["keychain:access-control": "devicePasscode"]
        let sealed = try await client.createItem(
            properties: SecretServiceProxy.itemProperties(label: "sealed", attributes),
            secret: channel.seal(mark, size)
        ).item
        try await memory.waitUntilGone(mark, what: "the secret of a sealed item")

        #expect(try await client.complete(client.unlock([sealed]).prompt).paths == [sealed.rawValue])
        #expect(try await channel.open(client.secret(of: sealed, session: channel.path)) == mark.secret(of: size))
        try await client.lock([sealed])
        try await memory.waitUntilGone(mark, what: "what GetSecret gave of a sealed item")
        await prompter.crash()
        try await service.daemon.stop()
    }

    @Test("no secret of a refused call remains", arguments: sizes.sample(oneIn: 2))
    func refusedSecrets_areGone(size: Int) async throws {
        let service = try await RunningService()
        let client = service.client
        let memory = DaemonMemory(of: service.daemon)
        let channel = try await SecretChannel(.plain, client)

        for member in ["NoMethod", "CreateItem"] {
            let mark = Mark()
            let secret = try channel.seal(mark, size)
            await #expect(throws: BusError.self) {
                try await client.call(
                    SecretServiceProxy.defaultAlias,
                    SecretServiceProxy.Interface.collection,
                    member,
                    secret
                )
            }
            try await memory.waitUntilGone(mark, what: "the only argument of \(member)")
        }
        // libdbus itself answers it, whatever its arguments.
        let ping = Mark()
        try await client.call(.login, StandardInterface.peer, "Ping", channel.seal(ping, size))
        try await memory.waitUntilGone(ping, what: "an argument of Ping")

        let mark = Mark()
        let secret = WireSecret(session: SecretServiceProxy.service, value: mark.secret(of: size))
        await #expect(throws: BusError.self) { try await client.createItem(properties: [:], secret: secret) }
        try await memory.waitUntilGone(mark, what: "a secret of no session")
        try await service.daemon.stop()
    }

    @Test("no secret of a caller that left remains", arguments: sizes.sample(oneIn: 2))
    func secretsOfCallersWhoLeave_areGone(size: Int) async throws {
        let service = try await RunningService()
        let memory = DaemonMemory(of: service.daemon)
        let mark = Mark()
        let client = try await service.makeClient()
        let channel = try await SecretChannel(.plain, client)
        let message = Message.call(
            to: KeychainDaemon.busName,
            SecretServiceProxy.defaultAlias,
            SecretServiceProxy.Interface.collection,
            "CreateItem"
        )
        let properties = SecretServiceProxy.itemProperties(label: "late", [:])
        message.append(properties, try channel.seal(mark, size), false)
        await client.connection.send(message)
        // Answered after the call has arrived, and usually before its answer.
        try await client.roundTrip()
        await client.disconnect()
        try await memory.waitUntilGone(mark, what: "the secret of a caller who has left")
        try await service.daemon.stop()
    }

    @Test("no secret remains that a prompt or a context has kept")
    func secretsOfPromptsAndContexts_areGone() async throws {
        let service = try await RunningService()
        let client = service.client
        let memory = DaemonMemory(of: service.daemon)
        let channel = try await SecretChannel(.plain, client)
        let attributes = ["keychain:access-control": "devicePasscode"]
        let properties = SecretServiceProxy.itemProperties(label: "sealed", attributes)
        _ = try await client.createItem(properties: properties, secret: channel.seal(Mark(), 64))

        let mark = Mark()
        let secret = try channel.seal(mark, 64)
        let prompt = try await client.createItem(properties: properties, secret: secret, replace: true).prompt
        try await client.call(prompt, "org.freedesktop.Secret.Prompt", "Dismiss")
        try await memory.waitUntilGone(mark, what: "the secret of a dismissed prompt")

        let (first, second) = (Mark(), Mark())
        let authentication = "org.keychaind.Authentication1"
        let root = ObjectPath(unchecked: "/org/keychaind/Authentication")
        let context = try await client.call(root, authentication, "CreateContext").read(ObjectPath.self)
        let interface = "\(authentication).Context"
        try await client.call(context, interface, "SetCredential", channel.seal(first, 32))
        try await client.call(context, interface, "SetCredential", channel.seal(second, 32))
        try await memory.waitUntilGone(first, what: "a replaced credential")
        try await client.call(context, interface, "Invalidate")
        try await memory.waitUntilGone(second, what: "the credential of a context")
        try await service.daemon.stop()
    }

    // MARK: Passwords

    @Test("no password of gnome-keyring's interface remains")
    func passwordsOfMasterCalls_areGone() async throws {
        let (start, wrong, new) = (Mark(), Mark(), Mark())
        let service = try await RunningService(KeychainDaemon.Options(password: start.password))
        let client = service.client
        let memory = DaemonMemory(of: service.daemon)
        let session = try await client.openPlainSession()
        func secret(_ mark: Mark) -> WireSecret { WireSecret(session: session, value: Array(mark.password.utf8)) }
        func call(_ member: String, _ marks: Mark...) async throws(BusError) {
            let message = Message.call(
                to: KeychainDaemon.busName,
                SecretServiceProxy.service,
                "org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface",
                member
            )
            message.append(ObjectPath.login)
            for mark in marks { message.append(secret(mark)) }
            _ = try await client.connection.call(message, timeout: Patience.limit)
        }
        try await memory.waitUntilGone(start, what: "the password of the start")
        try await client.lock([.login])
        await #expect(throws: BusError.self) { try await call("UnlockWithMasterPassword", wrong) }
        try await memory.waitUntilGone(wrong, what: "a wrong password")
        try await call("UnlockWithMasterPassword", start)
        #expect(try await !client.isCollectionLocked(.login))
        try await memory.waitUntilGone(start, what: "the password of UnlockWithMasterPassword")
        try await call("ChangeWithMasterPassword", start, new)
        try await memory.waitUntilGone(start, new, what: "the passwords of ChangeWithMasterPassword")
        try await service.daemon.stop()
    }

    @Test("no password of a prompter remains", arguments: ["gcr", "kde", "pinentry"])
    func passwordsOfPrompters_areGone(name: String) async throws {
        let mark = Mark()
        let fake = try await FakePinentry(
            flavor: "gtk2",
            answers: #"GETPIN) printf 'D %s\nOK\n' '\#(mark.password)';;"#
        )
        var options = KeychainDaemon.Options(password: mark.password)
        options.arguments = ["--prompters", name]
        options.environment = [
            "PATH": "\(fake.folderPath):/usr/bin:/bin", "DISPLAY": ":7", "XDG_CURRENT_DESKTOP": "KDE",
        ]
        let service = try await RunningService(options)
        let gcr = try await FakePrompter(on: service.bus, [.answer(mark.password)])
        let kde = try await FakeKDEPrompter(on: service.bus, [.type(Array(mark.password.utf8))])
        let client = service.client
        try await client.lock([.login])
        #expect(try await client.complete(client.unlock([.login]).prompt).isDismissed == false)
        #expect(try await !client.isCollectionLocked(.login))
        try await DaemonMemory(of: service.daemon).waitUntilGone(mark, what: "what was typed")
        await gcr.crash()
        await kde.crash()
        try await service.daemon.stop()
    }

    @Test("no password of a login remains")
    func passwordsOfLogins_areGone() async throws {
        let (mark, new) = (Mark(), Mark())
        let service = try await RunningService(KeychainDaemon.Options(password: mark.password))
        let memory = DaemonMemory(of: service.daemon)
        try await service.client.lock([.login])
        #expect(try await logIn(1, mark.password, to: service))
        try await eventually("the unlock") { try await !service.client.isCollectionLocked(.login) }
        try await memory.waitUntilGone(mark, what: "the password of a login")
        #expect(try await logIn(2, mark.password, new.password, to: service))
        try await memory.waitUntilGone(mark, new, what: "the passwords of a login's change")
        try await service.daemon.stop()
    }

    @Test("the password of a login that does not open the keychain is kept for an hour")
    func passwordOfAnotherLogin_isGoneAfterAnHour() async throws {
        let mark = Mark()
        let service = try await RunningService()
        let memory = DaemonMemory(of: service.daemon)
        try await service.client.lock([.login])
        #expect(try await logIn(1, mark.password, to: service))
        _ = try await service.daemon.child.standardError.lines.first("the attempt") {
            $0.contains("another password than the account")
        }
        try service.daemon.clock.pass(.seconds(3590))
        for _ in 0..<2 { #expect(try await service.client.isCollectionLocked(.login)) }
        #expect(try await !memory.places(of: [mark.text]).isEmpty)
        try service.daemon.clock.pass(.seconds(10))
        #expect(try await service.client.isCollectionLocked(.login))
        try await memory.waitUntilGone(mark, what: "the password of an hour ago")
        try await service.daemon.stop()
    }

    /// Sends a request to the socket for logins, as the PAM module does; returns whether it is answered.
    private func logIn(
        _ operation: Int,
        _ password: String,
        _ newPassword: String = "",
        to service: RunningService
    ) async throws -> Bool {
        let socket = try #require(service.daemon.environment["XDG_RUNTIME_DIR"] ?? nil) + "/keychaind/pam"
        // As input, not as arguments, which the daemon reads.
        let script = """
            import socket, struct
            password, new = b'\(password)', b'\(newPassword)'
            frame = b'KCHNPAM\\1' + struct.pack('>IHH', \(operation), len(password), len(new))
            frame += password.ljust(1024, b'\\0') + new.ljust(1024, b'\\0')
            login = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            login.connect('\(socket)')
            login.send(frame)
            print(len(login.recv(64)) > 0)
            """
        return try await Command.python(script).text == "True\n"
    }
}

extension ObjectPath {
    fileprivate static let login = ObjectPath(unchecked: "/org/freedesktop/secrets/collection/login")
}

/// A client's session with its secrets.
private struct SecretChannel {
    let path: ObjectPath
    private let session: EncryptedSession?

    init(_ algorithm: IdleMemoryTests.Algorithm, _ client: SecretServiceProxy) async throws {
        session = algorithm == .plain ? nil : try await EncryptedSession(with: client)
        if let session { path = session.path } else { path = try await client.openPlainSession() }
    }

    func seal(_ mark: Mark, _ size: Int) throws -> WireSecret {
        let secret = mark.secret(of: size)
        return try session?.encrypt(secret) ?? WireSecret(session: path, value: secret)
    }

    func open(_ secret: WireSecret) throws -> [UInt8] {
        try session?.decrypt(secret) ?? secret.value
    }
}
