import Glibc
import KeychaindAuthentication
import KeychaindCommandLine
import KeychaindConfiguration
import KeychaindDBus
import KeychaindDesktop
import KeychaindFIDO
import KeychaindGcrypt
import KeychaindHardening
import KeychaindRights
import KeychaindSecretService
import KeychaindTPM
import KeychaindVault
import Logging

/// The assembled daemon: bus, vault and provider.
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
    let screens: SessionScreens
    let settings: LiveSettings
    let tpm = ConfiguredTPM(TPM(transport: Configuration().host.tpm))
    let securityKeys: PluggedSecurityKeys
    let logins: LoginListener
    /// Nil without a domain, where the user's own backups include the keychains.
    let backups: BackupSchedule?
    let logger: Logger

    /// Takes the bus name, opens the vault, and serves until a signal or a disconnect.
    static func start(
        _ options: Options,
        in domain: Domain,
        with passed: PassedDescriptors,
        endingOn signals: TerminationSignals
    ) async {
        // Before the name is taken, so that the bus tells programs at once.
        guard !Gcrypt.isInFIPSMode else {
            end(.unavailable, "libgcrypt is in FIPS mode, which has no X25519: keychaind can open no keychain")
        }
        let password = StartPassword.descriptor(options)
        // Before the connection, whose limits follow from it.
        OpenFileLimit.raise(logger: Logger(label: "keychaind"))
        let daemon = Daemon(options, in: domain)
        daemon.provider.start()
        daemon.watchForSignals(signals)
        // Before the name is taken and the vault is open, so that a login then waits instead of failing.
        let loginSocket = daemon.openLoginSocket(passed)
        await daemon.takeName()
        daemon.filterSystemCalls()
        daemon.reportDomain()
        daemon.watchForDisconnect()
        daemon.startKeyMemory()
        let unlock = password.map { descriptor in PasswordUnlock(from: descriptor, daemon.provider) }
        await daemon.openVault(for: unlock)
        await daemon.settings.load()
        daemon.applySettings()
        await daemon.followRules()
        daemon.watchSession()
        await daemon.takeOver(passed)
        daemon.unlockByHost(daemon.settings.configuration)
        await daemon.listenForLogins(passed, at: loginSocket)
        daemon.backups?.catchUp()
        if unlock == nil { daemon.provider.vaultIsOpen() }
        ServiceManager.notifyReady()
        BusActor.start { await daemon.startPortal() }
        BusActor.start { await daemon.watchScreens() }
        if let unlock { await daemon.finish(unlock) }
        BusActor.loop.schedule(after: Daemon.startupTime) { StartupMemory.release() }
    }

    private init(_ options: Options, in domain: Domain) {
        self.options = options
        self.domain = domain
        logger = Logger(label: "keychaind")
        guard let directory = options.dataDirectory ?? domain.dataDirectory ?? UserFolders.data else {
            end(.inputOutput, "there is no home folder for keychains; name one with --data-dir")
        }
        self.directory = directory
        do throws(BusError) {
            let address = domain.isEntered ? BusAddress.address(try SessionBusAddress.find(in: domain)) : .session
            // The bus may accept the connection and never answer.
            connection = try TerminationSignals.endProcess { () throws(BusError) in
                try UserRights.perform { () throws(BusError) in try Connection(address) }
            }
        } catch {
            end(.unavailable, "there is no session bus: \(error.message)")
        }
        // Only in the domain: outside of it the user's programs could tamper with the inspection.
        systemBus = SystemBus(logger: logger)
        screens = SessionScreens(systemBus: systemBus, memory: domain.runtimeDirectory, logger: logger)
        let inspector =
            domain.isEntered
            ? SessionPrompterInspector(connection: connection, screens: screens, logger: logger) : nil
        pinentries = PinentryLauncher(trustsAll: !domain.isEntered, logger: logger)
        session = SessionMonitor(systemBus: systemBus, logger: logger)
        vault = Vault(VaultConfiguration(directory: directory, logger: logger))
        let prompters = Prompters(
            connection: connection,
            pinentries: pinentries,
            inspector: inspector,
            displays: domain.isEntered ? ScreenDisplays(screens: screens) : nil,
            logger: logger
        ).make(options.prompters)
        securityKeys = PluggedSecurityKeys(logger: logger)
        provider = Provider(
            vault: vault,
            connection: connection,
            inspector: CallerInspector(connection: connection, logger: logger),
            questions: PromptQueue(PrompterChain(prompters, logger: logger), logger: logger),
            biometry: FingerprintReader(bus: systemBus, logger: logger),
            host: TPMHost(tpm),
            securityKeys: securityKeys,
            token: TPMKeys(tpm),
            backups: UserFolders.dataHome.map { folder in BackupFolder(in: folder) },
            installations: .ofUser(dataHome: UserFolders.dataHome),
            facts: ProviderFacts(
                version: Version.current,
                prompters: options.prompters.filter { $0 != .none }.map(\.rawValue),
                isInDomain: domain.isEntered
            ),
            logger: logger
        )
        settings = LiveSettings(logger: logger) { [provider] mistakes, file in
            provider.notices.configurationWasRead(mistakes, of: file)
        }
        logins = LoginListener(keychain: provider.logins, logger: logger)
        backups =
            domain.isEntered
            ? UserFolders.dataHome.map { [vault, logger] folder in
                BackupSchedule(vault, to: BackupFolder(in: folder), logger: logger)
            } : nil
    }

    // MARK: Starting

    /// Takes the bus name early, since programs wait for it; their calls wait for the rest of the start.
    private func takeName() async {
        connection.wipeReceiveBuffer()
        connection.server.map(RestingMemory.watch)
        do throws(BusError) {
            let flags: NameRequest.Options = options.replaces ? [.allowReplacement, .replaceExisting] : []
            let outcome = try await connection.acquireName(Provider.busName, options: flags) {
                logger.notice("Another provider has taken over")
                stop()
            }
            guard outcome == .owner else {
                let owner = await NameOwner.find(Provider.busName, on: connection)
                // systemd starts no further process.
                sealedHandover?.remove()
                end(.unavailable, "the name \(Provider.busName) is taken: \(owner)")
            }
        } catch {
            end(.unavailable, "the name \(Provider.busName) cannot be taken: \(error.message)")
        }
    }

    /// Blocks unneeded system calls before the vault is opened.
    private func filterSystemCalls() {
        do throws(SystemCallFilter.Failure) {
            try SystemCallFilter.apply()
        } catch {
            logger.warning("System calls are not filtered", metadata: ["reason": "\(error.reason)"])
        }
    }

    /// Logs whether the process is in a domain (SECURITY.md).
    private func reportDomain() {
        switch domain {
        case .none(let reason):
            logger.notice("keychaind runs without a domain of its own", metadata: ["reason": "\(reason)"])
        case .entered(_, _, let dataDirectory, _):
            logger.notice("keychaind runs in a domain of its own", metadata: ["folder": "\(dataDirectory)"])
            for folder in SetAsideKeychains.folders {
                logger.warning(
                    "Keychains of an account with the same number are set aside",
                    metadata: ["folder": "\(folder)"]
                )
            }
        }
    }

    /// Serves sandboxed programs, unless another portal backend owns the name.
    private func startPortal() async {
        let portal = SecretPortal(provider: provider, connection: connection, logger: logger)
        if await portal.start(options.replaces ? [.allowReplacement, .replaceExisting] : []) { return }
        let owner = await NameOwner.find(SecretPortal.busName, on: connection)
        logger.notice("Sandboxed programs are not served", metadata: ["owner": "\(owner)"])
    }

    private func watchForSignals(_ signals: TerminationSignals) {
        signals.onFirst {
            stop(handingOver: true)
        } reload: {
            logger.info("Reading the configuration again")
            BusActor.start { await settings.reload() }
        }
    }

    private func watchForDisconnect() {
        connection.onDisconnect = {
            logger.notice("The session bus has closed the connection")
            stop(.disconnected)
        }
    }

    private func startKeyMemory() {
        do throws(GcryptError) {
            guard case .notLocked(let reason) = try Gcrypt.initialize(lockedBytes: Daemon.keyMemory) else { return }
            logger.warning("Memory cannot be locked: keys may reach swap space", metadata: ["reason": "\(reason)"])
        } catch {
            end(.inputOutput, "libgcrypt cannot be initialised: \(error)")
        }
    }

    /// Opens the vault; with `--replace`, retries while the previous process holds it.
    private func openVault(for unlock: PasswordUnlock?) async {
        let deadline = ContinuousClock.now + Daemon.handoverTime
        while true {
            do throws(VaultError) {
                try await moveKeychains()
                try await vault.open { hasLogin in unlock?.begin(hasLogin: hasLogin) }
                return
            } catch  where error.code == .inUse && options.replaces && ContinuousClock.now < deadline {
                await BusActor.loop.wait(for: .milliseconds(20))
            } catch {
                guard error.code == .inUse else { end(.inputOutput, "\(directory): \(error.reason)") }
                await endBesideAnother(error)
            }
        }
    }

    // MARK: Ending

    /// Tells the programs that wait which process has the keychains, and exits.
    private func endBesideAnother(_ error: VaultError) async -> Never {
        let holder = KeychainHolder.process(in: directory).map { process in
            "keychaind (process \(process)) has these keychains open, on another session bus"
        }
        let reason = holder ?? "\(error.reason), such as a keychaind on another session bus"
        let advice = "use that bus, or see “A second session bus” in keychaind's pages"
        _ = provider.end(because: BusError(.failed, "\(reason); \(advice)"))
        let deadline = ContinuousClock.now + Daemon.refusalTime
        // First, so that no further call comes to this process: the bus starts another one for it.
        try? await connection.releaseName(Provider.busName, timeout: Daemon.refusalTime)
        while connection.hasWaitingCalls, ContinuousClock.now < deadline {
            await BusActor.loop.wait(for: .milliseconds(1))
        }
        connection.close()
        end(.inUse, "\(directory): \(reason)")
    }

    /// Closes the vault and the bus connection and exits; later calls do nothing.
    ///
    /// - Parameter handingOver: whether to leave the keys of unlocked keychains to the next process, in a restart.
    private func stop(_ status: DaemonExit = .success, handingOver: Bool = false) {
        guard provider.end() else { return }
        connection.onDisconnect = nil
        // A flood of calls must not delay the end: systemd would kill the process.
        connection.stopReading()
        ServiceManager.notifyStopping()
        logins.close()
        pinentries.close()
        securityKeys.close()
        systemBus.close()
        BusActor.start {
            await finishBackups()
            let keys = handingOver ? keysToHandOver() : nil
            await vault.close()
            // Last, as a stop may have taken the place of the restart.
            await leave(keys)
            connection.close()
            exit(status.rawValue)
        }
    }

    /// Makes the last backups; gives up a disk that does not answer.
    private func finishBackups() async {
        let end = Promise<Void>()
        BusActor.start { [backups, vault] in
            await backups?.finish()
            await vault.waitForBackups()
            end.fulfill()
        }
        guard await !end.wait(within: Daemon.backupTime) else { return }
        logger.warning("The last backups are not made: the folder for backups does not answer")
    }

    /// Bytes of locked memory for sessions, passwords, grants, and all 256 collections, unlocked, of 6 KiB each.
    ///
    /// Less where the process may not lock as much.
    private static var keyMemory: Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &limit) == 0 else { return 512 << 10 }
        return limit.rlim_cur >= 3 << 20 ? 2 << 20 : 512 << 10
    }
    /// Time for the first waiting calls, before startup memory is released.
    private static let startupTime = Duration.milliseconds(500)
    private static let handoverTime = Duration.seconds(5)
    private static let refusalTime = Duration.seconds(2)
    /// Less than the unit waits for the end (keychaind.service).
    private static let backupTime = Duration.seconds(20)
}
