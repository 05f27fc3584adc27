package import KeychaindDBus
import KeychaindDesktop
import KeychaindGcrypt
package import Logging

/// Starts pinentries, one at a time, and ends them.
@BusActor
package final class PinentryLauncher {
    private let trustsAll: Bool
    private let logger: Logger
    private let timeout: Duration
    private let grace: Duration
    private let commandTimeout: Duration
    private var channels: [ObjectIdentifier: PinentryChannel] = [:]
    private var processes = 0
    private var exit = Promise<Void>()

    /// - Parameters:
    ///   - trustsAll: whether every answer counts, wherever and by whatever program it is given.
    ///   - timeout: the time limit of a question.
    ///   - grace: the extra time for the program to report its timeout.
    ///   - commandTimeout: the time limit of the start and of commands without a person.
    package init(
        trustsAll: Bool = true,
        logger: Logger,
        timeout: Duration = .seconds(300),
        grace: Duration = .seconds(10),
        commandTimeout: Duration = .seconds(5)
    ) {
        self.trustsAll = trustsAll
        self.logger = logger
        self.timeout = timeout
        self.grace = grace
        self.commandTimeout = commandTimeout
    }

    /// Starts a pinentry after all earlier ones have exited; two would compete for the keyboard or the terminal.
    ///
    /// Throws ``PromptError/Code/unavailable`` if the program is missing or cannot ask there.
    ///
    /// - Parameters:
    ///   - program: a path, or a name to look up in `PATH`.
    ///   - onReaped: called once after the exit, with whether a signal caused it.
    func launch(
        _ program: String,
        on surface: PinentrySurface,
        onReaped: @escaping @BusActor (_ bySignal: Bool) -> Void = { _ in }
    ) async throws(PromptError) -> PinentryDialog {
        if let refusal = surface.refusal(ofProgramAt: program) {
            throw PromptError(.unavailable, reason: "\(program) \(refusal)")
        }
        await waitUntilIdle()
        let process = try PinentryProcess(
            program,
            environment: surface.environment,
            compositor: surface.compositor
        )
        processes += 1
        process.onReaped = { [self] bySignal in
            onReaped(bySignal)
            receiveReaped()
        }
        let channel = try PinentryChannel(process)
        channels[ObjectIdentifier(channel)] = channel
        let flavor: String
        do throws(PromptError) {
            try await expect(channel, nil, program)
            flavor = try await checkFlavor(channel, surface, program)
            for option in surface.options {
                _ = try await channel.transact(option, within: commandTimeout)
            }
        } catch {
            forget(channel)
            throw error
        }
        return PinentryDialog(
            channel,
            trust: { [self] in
                let expected = expectedTrust(inProgramAt: program, on: surface)
                guard expected == .trusted, !trustsAll, let objection = await surface.currentObjection() else {
                    return expected
                }
                return .passwordsOnly(reason: objection)
            },
            layout: PinentryLayout(flavor: flavor),
            timeout: timeout,
            grace: grace,
            commandTimeout: commandTimeout,
            logger: logger
        ) { [self] in
            forget(channel)
        }
    }

    /// The trust in a program there, also before it is started.
    func expectedTrust(inProgramAt path: String, on surface: PinentrySurface) -> PrompterTrust {
        if trustsAll { return .trusted }
        if let objection = surface.objection { return .passwordsOnly(reason: objection) }
        var protection = FileProtection()
        let isSystems = protection.protects(PinentrySurface.file(behind: path))
        return isSystems ? .trusted : .passwordsOnly(reason: "\(PromptText.name(path)) is no system program")
    }

    /// Ends all programs at the exit of the daemon.
    package func close() {
        for channel in channels.values {
            channel.close()
        }
    }

    private func forget(_ channel: PinentryChannel) {
        channel.close()
        channels[ObjectIdentifier(channel)] = nil
    }

    // MARK: One at a time

    /// Returns once all pinentries have exited.
    func waitUntilIdle() async {
        while processes > 0 { await exit.wait() }
    }

    private func receiveReaped() {
        processes -= 1
        let ended = exit
        exit = Promise()
        ended.fulfill()
    }

    // MARK: Checking

    private func expect(
        _ channel: PinentryChannel,
        _ command: AssuanCommand?,
        _ program: String
    ) async throws(PromptError) {
        guard try await channel.transact(command, within: commandTimeout) == .success else {
            throw PromptError(.unavailable, reason: "\(program) does not answer like a pinentry")
        }
    }

    private func checkFlavor(
        _ channel: PinentryChannel,
        _ surface: PinentrySurface,
        _ program: String
    ) async throws(PromptError) -> String {
        try await expect(channel, AssuanCommand("GETINFO", "flavor"), program)
        let flavor: String
        do throws(GcryptError) {
            flavor = try channel.takeData().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        } catch {
            throw PromptError(.failed, reason: "cannot allocate secure memory for an answer: \(error.reason)")
        }
        if let refusal = surface.refusal(ofFlavor: flavor) {
            throw PromptError(.unavailable, reason: "\(program) \(refusal): \(PromptText.name(flavor))")
        }
        return flavor
    }
}
