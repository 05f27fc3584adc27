import Authentication
import CLinux
import Configuration
import DBus
import Desktop
import Gcrypt
import Glibc
import Hardening
import KeychainModel
import Logging
import Rights
import SecretService
import Vault

/// The parts of the daemon, put together: bus, vault, provider.
@BusActor
struct Daemon {
    let options: Options
    let domain: Domain
    let directory: String
    let connection: Connection
    let vault: Vault
    let provider: Provider
    let pinentries: PinentryLauncher
    let systemBus: SystemBus
    let session: SessionMonitor
    let host = ConfiguredHost()
    let logins: LoginListener
    /// Nil without a domain: files in the home folder are what the user backs up then.
    let backups: BackupSchedule?
    let logger: Logger

    /// Takes the bus name, opens the vault, and serves until a signal comes or the bus goes.
    static func start(
        _ options: Options,
        in domain: Domain,
        with passed: PassedDescriptors,
        endingOn signals: TerminationSignals
    ) async {
        let password = StartPassword.descriptor(options)
        let daemon = Daemon(options, in: domain)
        await daemon.takeName()
        daemon.filterSystemCalls()
        daemon.reportDomain()
        // A login that comes while the vault is being opened waits, instead of finding nobody.
        let loginSocket = daemon.openLoginSocket(passed)
        daemon.watchForTheEnd(signals)
        daemon.startKeyMemory()
        await daemon.openVault()
        let configuration = await daemon.readConfiguration()
        daemon.reportUnknownKeychains(configuration)
        await daemon.takeOver(passed)
        daemon.unlockByHost(configuration)
        await daemon.listenForLogins(passed, at: loginSocket)
        daemon.backups?.catchUp()
        if password == nil { daemon.provider.vaultIsOpen() }
        ServiceManager.notifyReady()
        daemon.watchSession(configuration)
        BusActor.start { await daemon.startPortal() }
        if let password { await daemon.unlock(withPasswordFrom: password) }
        BusActor.loop.schedule(after: Daemon.startupTime) { StartupMemory.release() }
    }

    private init(_ options: Options, in domain: Domain) {
        self.options = options
        self.domain = domain
        logger = Logger(label: "keychaind")
        guard let directory = options.dataDirectory ?? domain.dataDirectory ?? UserFolders.data else {
            end(.inputOutput, "there is no home folder to keep keychains in; give one with --data-dir")
        }
        self.directory = directory
        do throws(BusError) {
            let address = domain.isEntered ? BusAddress.address(try SessionBusAddress.inDomain()) : .session
            connection = try UserRights.perform { () throws(BusError) in try Connection(address) }
        } catch {
            end(.unavailable, "there is no session bus: \(error.message)")
        }
        // Prompters are judged only where programs of the user cannot reach what decides.
        let inspector = domain.isEntered ? SessionPrompterInspector(connection: connection, logger: logger) : nil
        pinentries = PinentryLauncher(inspector: inspector, logger: logger)
        systemBus = SystemBus(logger: logger)
        session = SessionMonitor(systemBus: systemBus, logger: logger)
        vault = Vault(VaultConfiguration(directory: directory, logger: logger))
        let callers = CallerDirectory(connection: connection, logger: logger)
        let prompters = Prompters(
            connection: connection,
            callers: callers,
            pinentries: pinentries,
            inspector: inspector,
            logger: logger
        ).make(options.prompters)
        provider = Provider(
            vault: vault,
            connection: connection,
            callers: callers,
            questions: PromptQueue(PrompterChain(prompters, logger: logger), logger: logger),
            biometry: FingerprintReader(bus: systemBus, logger: logger),
            systemDialog: options.usesPolkit ? PolkitDialog(bus: systemBus, logger: logger) : nil,
            host: host,
            logger: logger
        )
        logins = LoginListener(keychain: provider.logins, logger: logger)
        backups =
            domain.isEntered
            ? UserFolders.dataHome.map { [vault, logger] folder in
                BackupSchedule(vault, to: BackupFolder(in: folder), logger: logger)
            } : nil
    }

    // MARK: Starting

    /// Takes the name before anything else: programs wait for it at login, and what they call waits for the rest.
    private func takeName() async {
        provider.start()
        connection.wipeReceiveBuffer()
        connection.server.map(RestingMemory.watch)
        do throws(BusError) {
            let flags: NameRequest.Options = options.replaces ? [.allowReplacement, .replaceExisting] : []
            guard try connection.requestName(Provider.busName, options: flags) == .owner else {
                let owner = await NameOwner.find(Provider.busName, on: connection)
                end(.unavailable, "the name \(Provider.busName) is taken: \(owner)")
            }
        } catch {
            end(.unavailable, "the name \(Provider.busName) cannot be taken: \(error.message)")
        }
    }

    /// Gives up the system calls that no part of the daemon needs, before the vault is opened.
    private func filterSystemCalls() {
        do throws(SystemCallFilter.Failure) {
            try SystemCallFilter.apply()
        } catch {
            logger.warning("The system calls of keychaind are not filtered", metadata: ["reason": "\(error.reason)"])
        }
    }

    /// Says which setting the process runs in: what holds in each is in SECURITY.md.
    private func reportDomain() {
        switch domain {
        case .none(let reason):
            logger.notice("keychaind runs without a domain of its own", metadata: ["reason": "\(reason)"])
        case .entered(_, _, let dataDirectory, _):
            logger.notice("keychaind runs in a domain of its own", metadata: ["folder": "\(dataDirectory)"])
        }
    }

    /// Serves programs in sandboxes, unless another backend has the name.
    private func startPortal() async {
        let portal = SecretPortal(provider: provider, connection: connection, logger: logger)
        if await portal.start(options.replaces ? [.allowReplacement, .replaceExisting] : []) { return }
        let owner = await NameOwner.find(SecretPortal.busName, on: connection)
        logger.notice("Programs in sandboxes are not served", metadata: ["owner": "\(owner)"])
    }

    private func watchForTheEnd(_ signals: TerminationSignals) {
        signals.onFirst { stop(handingOver: true) }
        connection.onDisconnect = {
            logger.notice("The session bus is gone")
            stop(.disconnected)
        }
        connection.subscribe(to: .nameLost) { message in
            guard let name = try? message.read(String.self), name == Provider.busName else { return }
            logger.notice("Another provider has taken over")
            stop()
        }
    }

    private func startKeyMemory() {
        do throws(GcryptError) {
            guard case .notLocked(let reason) = try Gcrypt.initialize(lockedBytes: Daemon.keyMemory) else { return }
            logger.warning("Keys may be written to swap space", metadata: ["reason": "\(reason)"])
        } catch {
            end(.inputOutput, "libgcrypt does not start: \(error)")
        }
    }

    /// Opens the vault.
    ///
    /// With `--replace`, the one that was replaced may need a moment to let go of it.
    private func openVault() async {
        let deadline = ContinuousClock.now + Daemon.handoverTime
        while true {
            do throws(VaultError) {
                try await moveKeychains()
                try await vault.open()
                return
            } catch  where error.code == .inUse && options.replaces && ContinuousClock.now < deadline {
                await BusActor.loop.wait(for: .milliseconds(20))
            } catch {
                end(error.code == .inUse ? .inUse : .inputOutput, "\(directory): \(error.reason)")
            }
        }
    }

    /// What the user has configured; without a file, or with a mistake in it, what holds without one.
    private func readConfiguration() async -> Configuration {
        guard let path = ConfigurationFile.standardPath else { return Configuration() }
        return await BlockingThread.run { [logger] in ConfigurationFile.load(from: path, logger: logger) }
    }

    /// Says which keychains the configuration has rules for that are not there: a misspelled name would protect nothing.
    private func reportUnknownKeychains(_ configuration: Configuration) {
        let known = Set(vault.collections.map(\.name.description))
        for name in configuration.keychains.subtracting(known).sorted() {
            logger.notice(
                "The configuration has rules for a keychain that is not there",
                metadata: ["keychain": "\(name)"]
            )
        }
    }

    // MARK: The session

    /// Locks what is to be locked while the screen is, and during sleep ends what was granted.
    private func watchSession(_ configuration: Configuration) {
        session.onEvent { event in
            switch event {
            case .locked, .unlocked, .ended: provider.setSessionLocked(session.state.isLocked)
            case .aboutToSleep: provider.endAuthentication(because: "the machine is about to sleep")
            case .idle, .active, .wokeUp: break
            }
        }
        session.start()
        lockAutomatically(configuration)
    }

    /// Locks whole keychains when the configuration says so.
    private func lockAutomatically(_ configuration: Configuration) {
        let locking = AutomaticLocking(configuration: configuration, provider: provider)
        session.onEvent { locking.handle($0) }
        if session.state.isLocked { locking.handle(.locked) }
        if configuration.locksOnSleep { session.delaySleep() }
    }

    // MARK: Ending

    /// Closes the vault, leaves the bus, and lets the process end; whatever asks for that, once.
    ///
    /// - Parameter handingOver: whether the keys of what is unlocked are left to the process that may come next.
    private func stop(_ status: ExitStatus = .success, handingOver: Bool = false) {
        guard provider.end() else { return }
        connection.onDisconnect = nil
        ServiceManager.notifyStopping()
        logins.close()
        pinentries.close()
        systemBus.close()
        if handingOver { handOver() }
        BusActor.start {
            await backups?.finish()
            await vault.close()
            connection.close()
            exit(status.rawValue)
        }
    }

    /// Bytes of locked memory for keys: about 6 KiB for each collection that has been unlocked, so some eighty of them, and what the
    /// vault keeps free for sessions, passwords and grants.
    private static let keyMemory = 512 << 10
    /// When the start and the first calls of those who waited for it are over.
    private static let startupTime = Duration.milliseconds(500)
    private static let handoverTime = Duration.seconds(5)
}

/// Who has a bus name, in words for the person who wants it.
enum NameOwner {
    /// Names the owner's process and program, and says how to end it.
    @BusActor
    static func find(_ name: String, on connection: Connection) async -> String {
        guard let process = await processID(of: name, on: connection) else {
            return "its owner is not known; keychaind --replace takes it over if the owner allows that"
        }
        let program = executable(of: process) ?? "a program that cannot be looked into"
        return "process \(process), \(program), has it; end that first, or try keychaind --replace"
    }

    @BusActor
    private static func processID(of name: String, on connection: Connection) async -> UInt32? {
        let call = Message.call(
            to: bus,
            ObjectPath(unchecked: "/org/freedesktop/DBus"),
            bus,
            "GetConnectionUnixProcessID"
        )
        call.append(name)
        return try? await connection.call(call).read(UInt32.self)
    }

    private static func executable(of process: UInt32) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = UserRights.perform { readlink("/proc/\(process)/exe", &buffer, buffer.count) }
        guard count > 0 else { return nil }
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static let bus = "org.freedesktop.DBus"
}
