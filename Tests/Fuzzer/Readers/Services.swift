import KeychaindGcrypt
import KeychaindLanguage
import KeychaindTestSupport

@testable import KeychaindAuthentication
@testable import KeychaindDBus
@testable import KeychaindDesktop

/// Services of the system bus and the session bus, whose every answer, signal and call is the fuzzer's.
extension FuzzReader {
    static let services = [
        service(.fprintd) { bus in
            let system = SystemBus(address: bus.address, logger: silent)
            defer { system.close() }
            var limits = FingerprintLimits()
            (limits.busy, limits.keep, limits.retries) = (.zero, .zero, 3)
            let store = TemplateStore(path: "/nonexistent", user: "anna")
            let reader = FingerprintReader(bus: system, templates: store, limits: limits, logger: silent)
            _ = await reader.availability()
            for _ in 0..<2 {
                let match = reader.match { _ in }
                bus.onEnd = { match.cancel() }
                _ = await match.outcome()
            }
        },
        service(.logind) { bus in
            let system = SystemBus(address: bus.address, logger: silent)
            defer { system.close() }
            let monitor = SessionMonitor(systemBus: system, logger: silent)
            var wasLocked = false
            monitor.onEvent { event in
                if event == .locked || event == .unlocked {
                    promise(wasLocked != (event == .locked), "locked and unlocked take turns")
                    wasLocked = event == .locked
                }
            }
            monitor.delaySleep()
            monitor.start()
            await bus.waitForTheEnd()
            monitor.stopDelayingSleep()
        },
        service(.gcrPrompter) { bus in
            let connection = try await Connection.open(bus.address, timeout: .seconds(10))
            defer { connection.close() }
            let exponent = try SecureBytes(copying: [3], in: .locked)
            let dialog = GCRDialog(
                GCRChannel(connection, to: ScriptedBus.service, path: ObjectPath(unchecked: "/prompt")),
                exchange: GCRExchange(keyPair: try DiffieHellman(.modp1536, exponent: exponent)),
                inspector: nil,
                timeout: .seconds(300),
                logger: silent
            )
            bus.onEnd = { dialog.close() }
            try await dialog.begin(timeout: .seconds(25))
            await ask(dialog, [.password, .confirmation, .newPassword, .waiting])
        },
        service(.kdePrompter) { bus in
            let connection = try await Connection.open(bus.address, timeout: .seconds(10))
            defer { connection.close() }
            // Without a display, so that the user manager is asked for the desktop.
            let environment = SessionEnvironment(own: [:], connection: connection)
            let prompter = KDEPrompter(connection: connection, environment: environment, logger: silent)
            let requester = SilentRequester()
            _ = await prompter.expectedTrust(for: requester)
            let dialog = try await prompter.open(for: requester, asking: .newPassword)
            bus.onEnd = { dialog.close() }
            await ask(dialog, [.newPassword, .password, .confirmation])
        },
        service(.notifications) { bus in
            let connection = try await Connection.open(bus.address, timeout: .seconds(10))
            defer { connection.close() }
            let service = NotificationService(on: connection)
            for subject in ["a", "b", "a"] {
                let action = DesktopNotification.Action(Text("Undo")) { service.withdraw("b") }
                let notification = DesktopNotification(summary: Text("Changed"), body: Text("Now"), actions: [action])
                service.show(notification, about: subject)
            }
            await bus.waitForTheEnd()
            service.withdraw("a")
        },
    ]

    private static func service(
        _ service: ScriptedService,
        _ body: @escaping @BusActor @Sendable (ScriptedBus) async throws -> Void
    ) -> FuzzReader {
        FuzzReader(service.name) { bytes in ScriptedBus.run(service, bytes, body) }
    }

    @BusActor
    private static func ask(_ dialog: any PromptDialog, _ questions: [PromptRequest.Question]) async {
        for question in questions {
            let request = PromptRequest(
                question: question,
                message: Text("Password?"),
                subject: "Login",
                fallbackLabel: Text("Use Password"),
                choice: PromptRequest.Choice(label: Text("Remember"), explanation: Text("Until you log out"))
            )
            do throws(PromptError) {
                _ = try await dialog.ask(request) {}
                _ = dialog.revise(request)
                _ = await dialog.trust()
                _ = dialog.hasChosen
            } catch {
                continue
            }
        }
        dialog.close()
    }
}

/// A program for which a dialog is opened.
@BusActor
private final class SilentRequester: Requester {
    nonisolated let name = ":1.7"

    var knownCaller: Caller? { .opaque(name, reason: Text("It is not there.")) }

    func caller() async -> Caller { .opaque(name, reason: Text("It is not there.")) }
}
