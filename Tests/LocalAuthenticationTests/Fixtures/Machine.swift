import Foundation
import KeychaindDBus
import KeychaindTestSupport
import LocalAuthentication
import SecretServiceClient

/// A machine with a keychain and a person, used by contexts and `SecItem` functions in a closure.
struct Machine: Sendable {
    let service: RunningService
    let prompter: FakePrompter

    /// The service of this test.
    let name = UUID().uuidString

    /// Runs a test on a machine without a fingerprint reader.
    ///
    /// - Parameter responses: the person's answers, the last one repeatedly.
    static func with(
        _ responses: [PromptResponse] = [.answer("password")],
        _ options: KeychainDaemon.Options = KeychainDaemon.Options(),
        _ body: (Machine) async throws -> Void
    ) async throws {
        try await RunningService.withService(options) { service in
            let prompter = try await FakePrompter(on: service.bus, responses)
            try await KeychainBus.$current.withValue(.address(service.bus.address)) {
                try await OwnThread.run { try await body(Machine(service: service, prompter: prompter)) }
            }
            await prompter.crash()
        }
    }

    /// Runs a test on a machine with a reader, where the person's finger is enrolled as `owner`.
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

    /// The number of questions.
    var questionCount: Int { prompter.questions.count }

    /// The last question.
    var question: PromptQuestion? { prompter.questions.all.last }

    /// Changes the person's answers.
    @BusActor
    func answer(_ response: PromptResponse) {
        prompter.responses = [response]
    }

    /// Waits for a question.
    func waitForQuestion() async throws -> PromptQuestion {
        try await prompter.questions.first("a question")
    }

    // MARK: Items

    /// A query for a password of this test.
    func item(_ account: String, _ more: [CFString: Any] = [:]) -> CFDictionary {
        let query: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: name, kSecAttrAccount: account,
        ]
        return query.merging(more) { $1 } as CFDictionary
    }

    /// Adds a password equal to its account name.
    func add(
        _ account: String = "anna",
        _ flags: SecAccessControlCreateFlags = .userPresence,
        _ protection: CFString = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
    ) -> OSStatus {
        guard let control = SecAccessControlCreateWithFlags(nil, protection, flags, nil) else { return errSecParam }
        let more: [CFString: Any] = [kSecAttrAccessControl: control, kSecValueData: Data(account.utf8)]
        return SecItemAdd(item(account, more), nil)
    }

    /// Reads a password on another thread, while the person acts.
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

    /// Runs a blocking operation on another thread.
    func elsewhere<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        let (bus, timeout) = (KeychainBus.current, KeychainBus.promptTimeout)
        return await BlockingThread.run {
            KeychainBus.$current.withValue(bus) { KeychainBus.$promptTimeout.withValue(timeout, operation: body) }
        }
    }
}

/// The result of reading a password.
struct Reading: Hashable, Sendable {
    let status: OSStatus
    let secret: String?

    init(_ status: OSStatus, _ secret: String? = nil) {
        self.status = status
        self.secret = secret
    }

    /// The password.
    static func secret(_ secret: String) -> Reading {
        Reading(errSecSuccess, secret)
    }

    /// No password.
    static func failed(_ status: OSStatus) -> Reading {
        Reading(status)
    }
}
