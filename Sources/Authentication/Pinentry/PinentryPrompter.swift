package import DBus
import Gcrypt
package import Logging

/// The prompter of GnuPG, `pinentry`, which most desktops have: a program that is started for each dialog.
@BusActor
package final class PinentryPrompter: Prompter {
    /// What it is called in logs.
    package let name = "pinentry"

    private let program: String
    private let environment: SessionEnvironment
    private let logger: Logger
    private let timeout: Duration
    private let commandTimeout: Duration
    private let turns = TurnQueue()
    private var channels: [ObjectIdentifier: PinentryChannel] = [:]

    /// Creates a prompter.
    ///
    /// - Parameters:
    ///   - program: a path, or a name to look up in `PATH`.
    ///   - timeout: how long a question may wait for its answer.
    ///   - commandTimeout: how long the program may take to start, and for what needs no person.
    package init(
        program: String = "pinentry",
        environment: SessionEnvironment,
        logger: Logger,
        timeout: Duration = .seconds(300),
        commandTimeout: Duration = .seconds(10)
    ) {
        self.program = program
        self.environment = environment
        self.logger = logger
        self.timeout = timeout
        self.commandTimeout = commandTimeout
    }

    /// Starts a pinentry, after those that other dialogs have; throws ``PromptError/Code/unavailable`` if it has no window to show.
    package func open() async throws(PromptError) -> any PromptDialog {
        let variables = await environment.variables()
        guard SessionEnvironment.hasDisplay(variables) else {
            throw PromptError(.unavailable, reason: "there is no display")
        }
        // Two windows would both want the keyboard for themselves.
        await turns.enter()
        do throws(PromptError) {
            return try await start(variables)
        } catch {
            turns.leave()
            throw error
        }
    }

    /// Ends all programs, as the daemon ends; nobody else would.
    package func close() {
        for channel in channels.values {
            channel.close()
        }
    }

    private func start(_ variables: [String: String]) async throws(PromptError) -> PinentryDialog {
        let process = try PinentryProcess(program, environment: PinentryEnvironment.passed(from: variables))
        let channel = try PinentryChannel(process)
        channels[ObjectIdentifier(channel)] = channel
        do throws(PromptError) {
            try await expect(channel, nil)
            try await checkFlavor(channel)
            for option in PinentryEnvironment.options(from: variables) {
                _ = try await channel.transact(option, within: commandTimeout)
            }
        } catch {
            forget(channel)
            throw error
        }
        return PinentryDialog(channel, timeout: timeout, commandTimeout: commandTimeout, logger: logger) { [self] in
            forget(channel)
            turns.leave()
        }
    }

    private func forget(_ channel: PinentryChannel) {
        channel.close()
        channels[ObjectIdentifier(channel)] = nil
    }

    private func expect(_ channel: PinentryChannel, _ command: AssuanCommand?) async throws(PromptError) {
        guard try await channel.transact(command, within: commandTimeout) == .success else {
            throw PromptError(.unavailable, reason: "\(program) is not a pinentry that can be used here")
        }
    }

    /// Tells those apart that ask on a terminal, of which the daemon has none; one with windows that has found no display is such
    /// a one too, and says so: `gtk2:curses`.
    private func checkFlavor(_ channel: PinentryChannel) async throws(PromptError) {
        try await expect(channel, AssuanCommand("GETINFO", "flavor"))
        let flavor: String
        do throws(GcryptError) {
            flavor = try channel.takeData().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        } catch {
            throw PromptError(.failed, reason: "there is no memory for an answer: \(error.reason)")
        }
        guard PinentryEnvironment.hasWindows(flavor: flavor) else {
            throw PromptError(.unavailable, reason: "\(program) asks on a terminal: \(PromptText.name(flavor))")
        }
    }
}
