import Glibc
import KeychaindCommandLine
import KeychaindGcrypt
import KeychaindLanguage
import SecretServiceClient

/// KeePassXC on a private bus, with the copy of one database.
///
/// Its settings there are not the user's: they switch its Secret Service on, and nothing else.
struct KeePassXC: Sendable {
    /// The path of the database.
    let database: String

    /// The time in which a database opens with the right password.
    private static let patience = Duration.seconds(60)
    private static let tries = 3

    static let name = "keepassxc"

    private static let settings = """
        [General]
        UpdateCheckMessageShown=true
        [GUI]
        CheckForUpdates=false
        [FdoSecrets]
        Enabled=true
        ConfirmAccessItem=false
        ShowNotification=false

        """

    // MARK: Starting

    /// Starts it, once a password opens the database.
    func start(_ passwords: ImportPasswords, _ messages: any ImportMessages) async throws -> StartedProvider {
        guard let program = InstalledProgram.find(KeePassXC.name), let checker = InstalledProgram.find("keepassxc-cli")
        else {
            throw CommandFailure(
                .notFound,
                "keepassxc is not installed, so nobody can open \(database.visible); import its CSV table instead"
            )
        }
        var status = stat()
        guard stat(database, &status) == 0 else {
            throw CommandFailure(.notFound, "\(database.visible): \(String(cString: strerror(errno)))")
        }
        let session = try await PrivateSession.start(in: try PrivateFolder(roomFor: Int(status.st_size)))
        do {
            let copy = try session.folder.makeFolder("data") + "/\(fileName)"
            try FileCopy.copy(database, to: copy)
            let environment = try makeEnvironment(session)
            let password = try await choose(passwords, messages) { password in
                try await run(checker, ["ls", "-q", copy], in: session, environment, password).waitForExit() == 0
            }
            let child = try await run(program, ["--pw-stdin", copy], in: session, environment, password)
            return StartedProvider(session: session, child: child, password: password)
        } catch {
            await session.end()
            throw error
        }
    }

    private var fileName: String { String(database.split(separator: "/").last ?? "database.kdbx") }

    private func makeEnvironment(_ session: PrivateSession) throws(CommandFailure) -> [String: String] {
        let settings = try session.folder.makeFolder("config/keepassxc") + "/keepassxc.ini"
        guard let file = fopen(settings, "wxe") else { throw KeePassXC.failure() }
        let isWritten = fputs(KeePassXC.settings, file) >= 0
        guard fclose(file) == 0, isWritten else { throw KeePassXC.failure() }
        return [
            "HOME": try session.folder.makeFolder("home"),
            "XDG_CONFIG_HOME": session.folder.path + "/config",
            "XDG_DATA_HOME": try session.folder.makeFolder("share"),
            "XDG_CACHE_HOME": try session.folder.makeFolder("cache"),
            "XDG_RUNTIME_DIR": try session.folder.makeFolder("run"),
            // Where it looks for another KeePassXC of the user, which must not get this database.
            "TMPDIR": try session.folder.makeFolder("tmp"),
            "QT_QPA_PLATFORM": "offscreen",
        ]
    }

    /// The first password that opens the database: given, or typed.
    private func choose(
        _ passwords: ImportPasswords,
        _ messages: any ImportMessages,
        opens: (Password) async throws -> Bool
    ) async throws -> Password {
        if let given = passwords.given {
            guard try await opens(given) else {
                throw CommandFailure(.wrongPassword, "the password does not open \(database.visible)")
            }
            return given
        }
        for _ in 0..<KeePassXC.tries {
            guard let typed = try await passwords.ask(Text("Password of \(database.visible)")) else {
                throw CommandFailure(.locked, "nobody entered the password of \(database.visible)")
            }
            if try await opens(typed) { return typed }
            messages.tell(Text("That is not its password."))
        }
        throw CommandFailure(.wrongPassword, "no password opened \(database.visible)")
    }

    /// Starts a program that reads a password from its standard input.
    private func run(
        _ program: String,
        _ arguments: [String],
        in session: PrivateSession,
        _ environment: [String: String],
        _ password: Password
    ) async throws(CommandFailure) -> ChildProcess {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw KeePassXC.failure() }
        defer { close(ends[0]) }
        // A longer password than the pipe takes at once would have to wait for the program.
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        let count = password.bytes.withUnsafeBytes { write(ends[1], $0.baseAddress, $0.count) }
        let isComplete = count == password.bytes.count && write(ends[1], "\n", 1) == 1
        close(ends[1])
        guard isComplete else { throw KeePassXC.failure() }
        return try await session.run(program, arguments, environment: environment, descriptors: [ends[0], -1, -1])
    }

    private static func failure() -> CommandFailure {
        CommandFailure(.failure, "KeePassXC cannot be started: \(String(cString: strerror(errno)))")
    }

    // MARK: The database

    /// Waits until the database is open; throws if it exposes no group.
    func waitUntilOpen(_ client: SecretClient) async throws {
        let changes = try await client.changes()
        let waiting = Task { try await isExposed(client, changes) }
        let timeout = Task {
            try await Task.sleep(for: KeePassXC.patience)
            waiting.cancel()
        }
        defer { timeout.cancel() }
        let isOpen = await withTaskCancellationHandler {
            (try? await waiting.value) ?? false
        } onCancel: {
            waiting.cancel()
        }
        try Task.checkCancellation()
        guard isOpen else { throw exposesNothing }
    }

    /// The failure for a database that exposes no group.
    var exposesNothing: CommandFailure {
        CommandFailure(
            .notFound,
            """
            \(database.visible) exposes no group to other programs; choose one in KeePassXC (Database Settings, \
            Secret Service Integration), or import its CSV table instead
            """
        )
    }

    /// False once the database, which first shows itself locked, is gone again.
    private func isExposed(_ client: SecretClient, _ changes: SecretChanges) async throws -> Bool {
        var isKnown = false
        for collection in try await client.collections() {
            if try await !collection.isLocked() { return true }
            isKnown = true
        }
        for await change in changes {
            if case .collectionDeleted = change { return false }
            let collections = try await client.collections()
            if isKnown, collections.isEmpty { return false }
            for collection in collections {
                if try await !collection.isLocked() { return true }
                isKnown = true
            }
        }
        return false
    }

    // MARK: Known databases

    /// The databases that the user's KeePassXC has open, or had at its end.
    static var known: [String] {
        let folders = [
            DisplayEnvironment.folder("XDG_CACHE_HOME", default: ".cache"),
            DisplayEnvironment.folder("XDG_CONFIG_HOME", default: ".config"),
        ]
        for folder in folders.compactMap(\.self) {
            let settings = QtSettings(path: folder + "/keepassxc/keepassxc.ini")
            for key in ["LastOpenedDatabases", "LastDatabases"] {
                let paths = settings.list(key).filter { $0.hasPrefix("/") && access($0, F_OK) == 0 }
                if !paths.isEmpty { return paths }
            }
        }
        return []
    }
}
