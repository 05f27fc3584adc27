import ArgumentParser
import Glibc
import KeychaindCommandLine
import KeychaindLanguage
import KeychaindSwitch

/// `keychainctl switch`: the choice of the provider.
struct SwitchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "switch",
        abstract: "Make keychaind your provider of the Secret Service, and go back.",
        subcommands: [SwitchOnCommand.self, SwitchOffCommand.self, SwitchStatusCommand.self],
        defaultSubcommand: SwitchStatusCommand.self
    )
}

/// Whose provider a command is about.
struct SwitchTarget: ParsableArguments {
    @Flag(help: "As root: for all accounts that have made no choice of their own.")
    var all = false

    @Option(help: ArgumentHelp("With --all: an image of a system instead of the running one.", valueName: "folder"))
    var root: String?

    mutating func validate() throws {
        guard all || root == nil else { throw ValidationError("--root needs --all") }
        guard root?.hasPrefix("/") ?? true else { throw ValidationError("--root needs an absolute path") }
    }

    func account() throws(CommandFailure) -> SwitchAccount {
        guard let installation = SwitchTarget.installation else {
            throw CommandFailure(.notFound, "this keychainctl is not installed; run make install")
        }
        if all {
            guard geteuid() == 0 else {
                throw CommandFailure(.refused, "only root can switch all accounts: sudo keychainctl switch … --all")
            }
            return SwitchAccount(root: root ?? "", installation: installation)
        }
        let environment = SwitchTarget.environment
        guard let home = environment["HOME"], home.hasPrefix("/") else {
            throw CommandFailure(.failure, "HOME names no folder")
        }
        var status = stat()
        // As with sudo, which would leave files of root in the user's home folder.
        guard stat(home, &status) != 0 || status.st_uid == geteuid() else {
            throw CommandFailure(.refused, "\(home.visible) is of another user; run this as that user, without sudo")
        }
        return SwitchAccount(home: home, environment: environment, installation: installation)
    }

    /// By the path of this program.
    private static var installation: Installation? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        let installation = Installation(program: String(decoding: buffer[..<count], as: UTF8.self))
        return installation.flatMap { access($0.activationFile, F_OK) == 0 ? $0 : nil }
    }

    private static var environment: [String: String] {
        let names = [
            "HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_DIRS",
            "XDG_RUNTIME_DIR", "XDG_CURRENT_DESKTOP",
        ]
        return names.reduce(into: [:]) { result, name in
            if let value = getenv(name) { result[name] = String(cString: value) }
        }
    }
}
