import Foundation
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Hostile keys, and helpers that end: the daemon stays, the keychain stays locked, and the password opens it.
struct SecurityKeyAttackTests {
    /// A daemon with a slot of a key that is plugged in.
    private func run(
        pin: String? = nil,
        _ body: (RunningService, SecurityKeyPorts, VirtualSecurityKey) async throws -> Void
    ) async throws {
        let ports = try SecurityKeyPorts()
        let folder = try ConfigurationFolder(ports.configuration)
        var options = KeychainDaemon.Options()
        options.environment = folder.environment
        try await RunningService.withService(options) { service in
            let key = try await ports.plugIn("key")
            if let pin { try key.set(pin: pin) }
            try key.touch(times: 2)
            let (prompter, prompt) = try await show(
                try await service.client.addSecurityKey(label: "", pin: pin != nil, to: .login),
                [.answer("password")] + (pin.map { [.answer($0)] } ?? []),
                on: service
            )
            #expect(try await !service.client.completion(of: prompt).isDismissed)
            await prompter.crash()
            try await service.client.lock([.login])
            try await body(service, ports, key)
        }
    }

    private func show(
        _ prompt: ObjectPath,
        _ answers: [PromptResponse],
        on service: RunningService
    ) async throws -> (FakePrompter, ObjectPath) {
        let prompter = try await FakePrompter(on: service.bus, answers)
        await prompter.ignoreConfirmations()
        try await service.client.show(prompt)
        return (prompter, prompt)
    }

    /// Unlocks `login` with the answers; whether that succeeded.
    private func unlock(_ service: RunningService, _ answers: [PromptResponse]) async throws -> Bool {
        let (prompter, prompt) = try await show(try await service.client.unlock([.login]).prompt, answers, on: service)
        let outcome = try await service.client.completion(of: prompt)
        await prompter.crash()
        try await service.client.lock([.login])
        return !outcome.isDismissed
    }

    /// The helpers of a daemon.
    private func helpers(of service: RunningService) throws -> [Int32] {
        let processes = try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { Int32($0) }
        return processes.filter { process in
            let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
            let command = try? String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8)
            return status?.contains("PPid:\t\(service.daemon.child.id)\n") == true
                && command?.contains("--security-key") == true
        }
    }

    @Test("a helper that is killed leaves the dialog for a touch and the password; one that is no longer needed ends")
    func helper_killed_orUnneeded() async throws {
        try await run { service, _, key in
            let events = key.events
            let (prompter, prompt) = try await show(
                try await service.client.unlock([.login]).prompt,
                [.hang],
                on: service
            )
            try await key.waits(after: events)
            let helper = try #require(try helpers(of: service).first)
            kill(helper, SIGKILL)
            _ = try await prompter.questions.first("the reason") {
                $0.text("warning") == "The security key refused."
            }
            try await eventually("another helper") { try helpers(of: service).contains { $0 != helper } }
            try await service.client.dismiss(prompt)
            _ = try await service.client.completion(of: prompt)
            await prompter.crash()
            #expect(try await unlock(service, [.answer("password")]))
            try await eventually("the end of all helpers") { try helpers(of: service).isEmpty }
        }
    }

    @Test("a daemon that is killed leaves no helper, and the key stops blinking")
    func daemon_killed_endsTheHelper() async throws {
        try await run { service, _, key in
            let events = key.events
            let (prompter, _) = try await show(try await service.client.unlock([.login]).prompt, [.hang], on: service)
            try await key.waits(after: events)
            let helper = try #require(try helpers(of: service).first)
            try await service.daemon.kill()
            try await key.isCancelled(after: events)
            try await eventually("the end of the helper") { kill(helper, 0) != 0 }
            await prompter.crash()
        }
    }

    @Test("a key that answers nothing holds up nobody")
    func key_silent_isLeft() async throws {
        try await run { service, _, key in
            try key.fallSilent()
            #expect(try await unlock(service, [.answer("password")]))
            try await eventually("the end of all helpers") { try helpers(of: service).isEmpty }
        }
    }

    @Test("a key with another secret does not open the keychain; a further touch does when it has the right one")
    func key_otherSecret_doesNotOpen() async throws {
        try await run { service, _, key in
            try key.forgetSecrets()
            try key.touch()
            let (prompter, prompt) = try await show(
                try await service.client.unlock([.login]).prompt,
                [.hang],
                on: service
            )
            _ = try await prompter.questions.first("the reason") {
                $0.text("warning") == "The security key that is plugged in does not open this keychain."
            }
            #expect(try await service.client.isCollectionLocked(.login))
            try key.rememberSecrets()
            try key.touch()
            #expect(try await !service.client.completion(of: prompt).isDismissed)
            #expect(try await !service.client.isCollectionLocked(.login))
            await prompter.crash()
        }
    }

    @Test("answers that are no CTAP2 neither open the keychain nor end the daemon", arguments: [nil, "1234"])
    func key_answersGarbage_isRefused(pin: String?) async throws {
        try await run(pin: pin) { service, _, key in
            var random = SeededGenerator(seed: 12)
            let process = service.daemon.child.id
            for round in 0..<16 {
                var garbage = (0..<Int.random(in: 1...1500, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                // A status of success, and a map: what follows is read.
                if round % 2 == 0 { garbage = [0, 0xa0 | UInt8.random(in: 0...5, using: &random)] + garbage }
                try key.answer(with: garbage, to: round % 8)
                let answers: [PromptResponse] = pin.map { [.answer(""), .answer($0), .answer("password")] } ?? [.hang]
                let (prompter, prompt) = try await show(
                    try await service.client.unlock([.login]).prompt,
                    answers,
                    on: service
                )
                try key.touch()
                _ = try await prompter.questions.first("the dialog")
                // Before its garbage, the key may have opened the keychain.
                if pin == nil { try? await service.client.dismiss(prompt) }
                _ = try await service.client.completion(of: prompt)
                await prompter.crash()
                try key.rest()
                try await service.client.lock([.login])
            }
            #expect(service.daemon.child.id == process && service.daemon.child.isRunning)
            #expect(try await unlock(service, [.answer("password")]))
        }
    }
}
