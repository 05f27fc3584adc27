import Glibc
import KeychaindCommandLine
import KeychaindGcrypt
import KeychaindLanguage

extension ForeignProvider {
    /// Starts the provider on a private bus, on a copy of its files.
    ///
    /// Throws ``ExitStatus/notFound`` if there are no files or the provider is not installed.
    func startOnCopy(_ passwords: ImportPasswords) async throws(CommandFailure) -> StartedProvider {
        guard let folder else { throw CommandFailure(.notFound, "there is no home folder") }
        let files = try FileCopy(of: folder)
        guard !files.isEmpty else { throw CommandFailure(.notFound, "\(folder.visible) is empty") }
        guard let program else {
            throw CommandFailure(.notFound, "\(rawValue) is not installed, so nobody can open its files")
        }
        let password = try await passwordForStart(passwords)
        let session = try await PrivateSession.start(in: try PrivateFolder(roomFor: files.size))
        do throws(CommandFailure) {
            try files.write(to: try session.folder.makeFolder("data/\(folderName)"))
            let child = try await start(program, in: session, password)
            return StartedProvider(session: session, child: child, password: password)
        } catch {
            await session.end()
            throw error
        }
    }

    private var folderName: String {
        switch self {
        case .gnomeKeyring: "keyrings"
        case .kwallet: "kwalletd"
        }
    }

    /// The password that the provider takes at its start alone; nil if there is none.
    private func passwordForStart(_ passwords: ImportPasswords) async throws(CommandFailure) -> Password? {
        switch self {
        case .gnomeKeyring: return nil
        case .kwallet:
            if let given = passwords.given { return given }
            return try await passwords.ask(Text("Password of KWallet, usually your login password"))
        }
    }

    private func start(
        _ program: String,
        in session: PrivateSession,
        _ password: Password?
    ) async throws(CommandFailure) -> ChildProcess {
        var environment = [
            "HOME": try session.folder.makeFolder("home"),
            "XDG_DATA_HOME": try session.folder.makeFolder("data"),
            "XDG_CONFIG_HOME": try session.folder.makeFolder("config"),
            "XDG_CACHE_HOME": try session.folder.makeFolder("cache"),
            "XDG_STATE_HOME": try session.folder.makeFolder("state"),
            "XDG_RUNTIME_DIR": try session.folder.makeFolder("run"),
        ]
        switch self {
        case .gnomeKeyring:
            let control = try session.folder.makeFolder("run/keyring")
            return try await session.run(
                program,
                ["--foreground", "--components=secrets", "--control-directory=\(control)"],
                environment: environment
            )
        case .kwallet:
            if let configuration = DisplayEnvironment.folder("XDG_CONFIG_HOME", default: ".config") {
                let file = configuration + "/kwalletrc"
                // The name of the default wallet is in it.
                if access(file, F_OK) == 0 {
                    try FileCopy.copy(file, to: session.folder.path + "/config/kwalletrc")
                }
            }
            if !DisplayEnvironment.hasDisplay { environment["QT_QPA_PLATFORM"] = "offscreen" }
            return try await KWalletLogin.start(program, in: session, environment, password: password)
        }
    }
}

/// A provider that runs on a copy of its files.
struct StartedProvider {
    let session: PrivateSession
    let child: ChildProcess
    /// The password that it was started with; nil if it was started without one.
    let password: Password?
}
