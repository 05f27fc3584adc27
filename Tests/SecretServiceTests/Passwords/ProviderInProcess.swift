import KeychaindAuthentication
import KeychaindDBus
import KeychaindDesktop
import KeychaindGcrypt
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Logging
import Synchronization

/// A provider in the test process, for events that do not come over the bus.
@BusActor
final class ProviderInProcess {
    static let password = "before"

    let bus: PrivateBus
    let vault: Vault
    let provider: Provider
    let client: SecretServiceProxy
    let connection: Connection
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let folder: TemporaryFolder
    private let days = Days()

    /// Starts it with a locked keychain `login`, whose password is ``password``.
    ///
    /// - Parameters:
    ///   - clock: decides how long grants, proofs and delays last; by default, no time passes.
    ///   - opens: whether the vault opens; otherwise calls wait for it.
    ///   - folder: the folder of a closed one, as after a restart.
    ///   - confinement: the sandbox around every client.
    ///   - look: finds the sandbox instead.
    ///   - hasHome: whether there is a folder for backups.
    ///   - installations: where sandboxed programs are installed.
    ///   - inspection: looks at the processes of callers instead, for as long as it takes.
    ///   - inspector: decides the trust in prompters; nil to trust all.
    ///   - biometry: a fingerprint reader; nil for none.
    init(
        limits: ServiceLimits = .patient,
        vaultLimits: VaultLimits = VaultLimits(),
        opens: Bool = true,
        clock: BootClock = TestClock().clock,
        folder: TemporaryFolder? = nil,
        confinement: Confinement = .none,
        look: ConnectionExaminations.Look? = nil,
        hasHome: Bool = false,
        installations: SandboxInstallations = SandboxInstallations(),
        inspector: (any PrompterInspector)? = nil,
        biometry: (any Biometry)? = nil,
        inspection: CallerInspector.Inspection? = nil
    ) async throws {
        _ = try Gcrypt.initialize(lockedBytes: 16 << 20)
        bus = try await PrivateBus()
        self.folder = try folder ?? TemporaryFolder()
        var configuration = VaultConfiguration(directory: self.folder.path("data"), logger: logger)
        configuration.keyDerivation = Argon2id(memoryKiB: 64, iterations: 1, lanes: 1)
        configuration.limits = vaultLimits
        configuration.now = { [days] in days.now }
        vault = Vault(configuration)
        connection = try bus.connect()
        let (connection, logger) = (connection, logger)
        let callers =
            inspection.map { inspection in
                CallerInspector(connection: connection, inspection: inspection, patience: .seconds(600), logger: logger)
            } ?? CallerInspector(connection: connection, patience: Patience.limit, logger: logger)
        let systemBus = SystemBus(address: "unix:path=\(self.folder.path("none"))", logger: logger)
        provider = Provider(
            vault: vault,
            connection: connection,
            inspector: callers,
            questions: PromptQueue(
                GCRPrompter(connection: connection, inspector: inspector, logger: logger, callTimeout: Patience.limit),
                logger: logger
            ),
            biometry: biometry ?? FingerprintReader(bus: systemBus, logger: logger),
            backups: hasHome ? BackupFolder(in: self.folder.path("home")) : nil,
            confinement: look ?? { _, _ in confinement },
            installations: installations,
            limits: limits,
            clock: clock,
            logger: logger
        )
        // The stand-ins for the desktop's programs are in this process, and so in the sandbox of every client.
        connection.objectionToService = nil
        provider.start()
        _ = try connection.requestName(Provider.busName)
        try await vault.open()
        client = try SecretServiceProxy(on: bus)
        if opens { provider.vaultIsOpen() }
        let login = try collection(.login)
        try await login.unlock(with: Self.bytes(Self.password))
        login.lock()
    }

    private static let unconfirmedProgram = "flatpak:org.example.Chat"

    /// Starts it with all clients in a sandbox that no person has confirmed yet.
    static func unconfirmed(vaultLimits: VaultLimits = VaultLimits()) async throws -> ProviderInProcess {
        let service = try await ProviderInProcess(
            vaultLimits: vaultLimits,
            opens: false,
            confinement: .sandbox(.flatpak("org.example.Chat"))
        )
        try await service.vault.record([unconfirmedProgram: SandboxRecord(.unconfirmed)], since: Timestamp.now())
        service.provider.vaultIsOpen()
        return service
    }

    /// Returns a prompt of `client` that limits the unconfirmed program to its own items.
    static func limitingPrompt(of client: SecretServiceProxy) async throws -> ObjectPath {
        let sandboxes = ObjectPath(unchecked: "/org/freedesktop/secrets/sandboxes")
        let interface = "org.keychaind.Sandboxes1"
        return try await client.call(sandboxes, interface, "Confirm", unconfirmedProgram, [ObjectPath]())
            .read(ObjectPath.self)
    }

    func collection(_ name: CollectionName) throws -> Collection {
        guard let collection = vault.collection(named: name) else { throw BusError(.failed, "no \(name)") }
        return collection
    }

    static func bytes(_ text: String) throws -> SecureBytes {
        try SecureBytes(copying: Array(text.utf8), in: .locked)
    }

    /// Logs in with a password that is not the keychain's.
    func logIn(with password: String) throws {
        provider.rememberLoginPassword(try Self.bytes(password))
    }

    /// Unlocks `login` through a prompt and returns its questions.
    func unlock(_ answers: [PromptResponse]) async throws -> (isOpen: Bool, questions: [PromptQuestion]) {
        let prompter = try FakePrompter(on: bus, answers)
        let outcome = try await client.complete(try await client.unlock([.login]).prompt)
        prompter.crash()
        return (!outcome.isDismissed, prompter.questions.all)
    }

    /// Runs what asks for a password, with a prompter that answers at once; also returns the warnings that it showed.
    func answering(
        _ answers: [PromptResponse],
        _ body: () async throws -> Bool
    ) async throws -> (isOpen: Bool, warnings: [String]) {
        let prompter = try FakePrompter(on: bus, answers)
        let isOpen = try await body()
        prompter.crash()
        return (isOpen, prompter.questions.all.compactMap { $0.text("warning") })
    }

    /// Makes the present state of a keychain one of an earlier day, and returns the identifier of that.
    func keepPastState(of collection: Collection, password: String = password) async throws -> String {
        try await collection.unlock(with: Self.bytes(password))
        days.pass()
        try await collection.setLabel(collection.label)
        let prefix = "generation:\(collection.name)@"
        guard let past = try await vault.copies(nil).last(where: { copy in copy.id.hasPrefix(prefix) }) else {
            throw BusError(.failed, "no past state")
        }
        return past.id
    }

    /// Whether a password opens a collection; locks it again.
    func opens(_ password: String, _ collection: Collection) async throws -> Bool {
        collection.lock()
        let bytes = try Self.bytes(password)
        do throws(VaultError) {
            try await collection.unlock(with: bytes)
            collection.lock()
            return true
        } catch {
            return false
        }
    }
}

/// A clock of which a test passes days.
private final class Days: Sendable {
    private let passed = Mutex<Int64>(0)

    var now: Timestamp {
        var now = Timestamp.now()
        now.microsecondsSinceEpoch += passed.withLock { passed in passed } * 24 * 60 * 60 * 1_000_000
        return now
    }

    func pass() { passed.withLock { passed in passed += 1 } }
}
