import DBus
import Foundation
import LocalAuthentication
import SecretServiceClient
import TestSupport

/// A machine with a keychain, which contexts and the `SecItem` functions use within a closure, and a person at it.
struct Machine: Sendable {
    let service: RunningService
    let prompter: FakePrompter

    /// A service of this test's own.
    let name = UUID().uuidString

    /// Runs a test with a machine without a fingerprint reader.
    ///
    /// - Parameter responses: what the person does with the next questions, with the last again and again.
    static func with(
        _ responses: [PromptResponse] = [.answer("password")],
        _ options: KeychainDaemon.Options = KeychainDaemon.Options(),
        _ body: (Machine) async throws -> Void
    ) async throws {
        try await RunningService.withService(options) { service in
            let prompter = try await FakePrompter(on: service.bus, responses)
            try await KeychainBus.$current.withValue(.address(service.bus.address)) {
                try await body(Machine(service: service, prompter: prompter))
            }
            await prompter.crash()
        }
    }

    /// Runs a test with a machine with a reader, at which the person's finger is enrolled as `owner`.
    static func withReader(
        _ responses: [PromptResponse] = [.hang],
        isEnrolled: Bool = true,
        _ body: (Machine, VirtualReader) async throws -> Void
    ) async throws {
        let reader = try await VirtualReader()
        if isEnrolled { try await reader.enrol() }
        var options = KeychainDaemon.Options()
        options.environment = reader.environment
        try await with(responses, options) { try await body($0, reader) }
    }

    // MARK: The person

    /// How often the person was asked.
    var questionCount: Int { prompter.questions.count }

    /// What the person was asked last.
    var question: PromptQuestion? { prompter.questions.all.last }

    /// Changes what the person does with questions from here on.
    @BusActor
    func answer(_ response: PromptResponse) {
        prompter.responses = [response]
    }

    /// Waits until the person is asked.
    func waitForQuestion() async throws -> PromptQuestion {
        try await prompter.questions.first("a question")
    }

    // MARK: Items

    /// A query for a password of this test's service.
    func item(_ account: String, _ more: [CFString: Any] = [:]) -> CFDictionary {
        let query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: name, kSecAttrAccount: account,
        ]
        return query.merging(more) { $1 } as CFDictionary
    }

    /// Adds a password, which is its account's name.
    func add(
        _ account: String = "anna",
        _ flags: SecAccessControlCreateFlags = .userPresence,
        _ protection: CFString = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
    ) -> OSStatus {
        guard let control = SecAccessControlCreateWithFlags(nil, protection, flags, nil) else { return errSecParam }
        let more: [CFString: Any] = [kSecAttrAccessControl: control, kSecValueData: Data(account.utf8)]
        return SecItemAdd(item(account, more), nil)
    }

    /// Reads a password, on a thread of its own: the person can do something meanwhile.
    func read(
        _ account: String = "anna",
        context: LAContext? = nil,
        prompt: String? = nil,
        interaction: String? = nil
    ) async -> Reading {
        await elsewhere {
            var more: [CFString: Any] = [kSecReturnData: true]
            more[kSecUseAuthenticationContext] = context
            more[kSecUseOperationPrompt] = prompt
            more[kSecUseAuthenticationUI] = interaction
            var result: CFTypeRef?
            let status = SecItemCopyMatching(item(account, more), &result)
            return Reading(status, (result as? Data).map { String(decoding: $0, as: UTF8.self) })
        }
    }

    /// Does what blocks on a thread of its own.
    func elsewhere<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        let (bus, timeout) = (KeychainBus.current, KeychainBus.promptTimeout)
        return await BlockingThread.run {
            KeychainBus.$current.withValue(bus) { KeychainBus.$promptTimeout.withValue(timeout, operation: body) }
        }
    }
}
