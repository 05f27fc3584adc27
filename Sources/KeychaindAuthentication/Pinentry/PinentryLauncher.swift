package import KeychaindDBus
import KeychaindDesktop
import KeychaindGcrypt
package import Logging

/// Starts pinentries, one at a time, and ends them.
@BusActor
package final class PinentryLauncher {
    private let inspector: (any PrompterInspector)?
    private let logger: Logger
    private let timeout: Duration
    private let grace: Duration
    private let commandTimeout: Duration
    private var channels: [ObjectIdentifier: PinentryChannel] = [:]
    private var processes = 0
    private var exit = Promise<Void>()

    /// - Parameters:
    ///   - inspector: judges a program; nil trusts it.
    ///   - timeout: the time limit of a question.
    ///   - grace: the extra time for the program to report its timeout.
    ///   - commandTimeout: the time limit of the start and of commands without a person.
    package init(
        inspector: (any PrompterInspector)? = nil,
        logger: Logger,
        timeout: Duration = .seconds(300),
        grace: Duration = .seconds(10),
        commandTimeout: Duration = .seconds(10)
    ) {
        self.inspector = inspector
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
            trust: trust(in: process.id, on: surface),
            layout: PinentryLayout(flavor: flavor),
            timeout: timeout,
            grace: grace,
            commandTimeout: commandTimeout,
            logger: logger
        ) { [self] in
            forget(channel)
        }
    }

    /// The trust in a program there, before it is started.
    func expectedTrust(on surface: PinentrySurface, isSystems: Bool = true) -> PrompterTrust {
        guard inspector != nil else { return .trusted }
        if let objection = surface.objection { return .passwordsOnly(reason: objection) }
        return isSystems ? .trusted : .passwordsOnly(reason: "it is no system program")
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

    /// The check of a program, run at each query.
    private func trust(in process: Int32, on surface: PinentrySurface) -> @BusActor () async -> PrompterTrust {
        let expected = expectedTrust(on: surface)
        guard expected == .trusted, let inspector else { return { expected } }
        return {
            if let objection = await surface.currentObjection() { return .passwordsOnly(reason: objection) }
            return await inspector.trust(in: .child(process))
        }
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
