import Foundation
package import KeychaindDBus
import KeychaindGcrypt

/// A system prompter like GCR's without a screen.
///
/// It owns `org.gnome.keyring.SystemPrompter` on its own connection and answers as the test says.
@BusActor
package final class FakePrompter {
    /// Its bus name.
    package nonisolated static let busName = "org.gnome.keyring.SystemPrompter"

    /// Every question, in order.
    package nonisolated let questions = Recorder<PromptQuestion>()

    /// The name of every called method.
    package nonisolated let calls = Recorder<String>()

    /// The reaction to a new dialog.
    package var greeting: PromptGreeting

    /// The reactions to the next questions; the last one repeats.
    package var responses: [PromptResponse]

    /// Whether questions without a password are never answered; they use up no response.
    private var ignoresConfirmations = false

    private let connection: Connection
    private let gone = Recorder<Void>()
    private var sessions: [Caller: Session] = [:]

    /// A dialog: its caller and the callback object.
    private struct Caller: Hashable {
        let name: String
        let callback: ObjectPath
    }

    /// The keys of a dialog.
    private final class Session {
        let keyPair: DiffieHellman
        /// What the service has sent with its last question.
        var exchange = ""

        init() throws {
            keyPair = try DiffieHellman(.modp1536)
        }
    }

    /// Connects and takes the name.
    package init(
        on bus: PrivateBus,
        greeting: PromptGreeting = .ready,
        _ responses: [PromptResponse]
    ) throws {
        self.greeting = greeting
        self.responses = responses
        connection = try bus.connect()
        connection.server = ObjectServer(on: connection, limit: 100) { [weak self] (call) throws(BusError) in
            guard let self, call.path == "/org/gnome/keyring/Prompter" else {
                throw BusError(.unknownObject, "there is only a prompter here")
            }
            return FakePrompter.kind.target(self)
        }
        connection.onNameVanished { [weak self] name in
            self?.sessions = self?.sessions.filter { $0.key.name != name } ?? [:]
        }
        try connection.takeName(FakePrompter.busName)
    }

    isolated deinit {
        crash()
    }

    /// The unique name of its connection.
    package var uniqueName: String { connection.uniqueName }

    /// Gives up the name and disconnects; the next prompter can take the name at once.
    package func end() async throws {
        let bus = ObjectPath(unchecked: "/org/freedesktop/DBus")
        let release = Message.call(to: SignalMatch.bus, bus, SignalMatch.bus, "ReleaseName")
        release.append(FakePrompter.busName)
        _ = try await connection.call(release)
        crash()
    }

    /// Disconnects, as in a crash; the bus may see that later.
    package func crash() {
        connection.close()
        gone.finish()
    }

    /// Leaves questions without a password unanswered.
    package func ignoreConfirmations() {
        ignoresConfirmations = true
    }

    /// Sets the reactions to the next questions.
    package func answer(with responses: [PromptResponse]) {
        self.responses = responses
    }

    /// Reacts to a question that has had no answer.
    package func respond(_ response: PromptResponse, to question: PromptQuestion) {
        let caller = Caller(name: question.caller, callback: question.callback)
        guard let session = sessions[caller] else { return }
        respond(response, to: caller, session, question.type, question.exchange)
    }

    /// Sends a `PromptReady` that was not asked for.
    package func say(_ reply: String, exchange: String, to question: PromptQuestion) {
        sendReady(Caller(name: question.caller, callback: question.callback), reply, exchange)
    }

    /// Sends the test's own call and returns its error.
    package func error(of message: Message) async -> BusError? {
        do throws(BusError) {
            _ = try await connection.call(message, timeout: Patience.limit)
            return nil
        } catch {
            return error
        }
    }

    // MARK: The interface

    private static let interface = "org.gnome.keyring.internal.Prompter"

    private static let callback = Parameter("callback", ObjectPath.self)

    private static let kind = ObjectKind<FakePrompter>([
        Interface(
            interface,
            methods: [
                Method(deciding: "BeginPrompting", in: [callback]) { (prompter, call) throws(BusError) in
                    prompter.calls.record("BeginPrompting")
                    prompter.begin(call, Caller(name: call.peer.name, callback: try call.arguments(ObjectPath.self)))
                    guard prompter.greeting == .unanswered else { return .answered }
                    let gone = prompter.gone
                    return .suspending { _ = try? await gone.first("the end of the prompter") }
                },
                Method(
                    "PerformPrompt",
                    in: [
                        callback, Parameter("type", String.self), Parameter("properties", [String: Variant].self),
                        Parameter("exchange", String.self),
                    ]
                ) { (prompter, call) throws(BusError) in
                    prompter.calls.record("PerformPrompt")
                    try prompter.perform(call)
                },
                Method("StopPrompting", in: [callback]) { (prompter, call) throws(BusError) in
                    prompter.calls.record("StopPrompting")
                    let caller = Caller(name: call.peer.name, callback: try call.arguments(ObjectPath.self))
                    call.reply()
                    if prompter.sessions.removeValue(forKey: caller) != nil {
                        prompter.callBack(caller, "PromptDone")
                    }
                },
            ]
        )
    ])

    private func begin(_ call: MethodCall, _ caller: Caller) {
        guard let session = try? Session() else { return }
        sessions[caller] = session
        let exchange = FakePrompter.exchange(["public": session.keyPair.publicKey])
        switch greeting {
        case .ready:
            call.reply()
            sendReady(caller, "", exchange)
        case .readyFirst:
            sendReady(caller, "", exchange)
            call.reply()
        case .silent:
            call.reply()
        case .unanswered:
            break
        case .refusal:
            call.fail(BusError(.failed, "no more dialogs"))
        case .says(let reply, let exchange):
            call.reply()
            sendReady(caller, reply, exchange)
        case .crash:
            crash()
        }
    }

    private func perform(_ call: MethodCall) throws(BusError) {
        let (callback, type, properties, exchange) = try call.arguments(
            ObjectPath.self,
            String.self,
            [String: Variant].self,
            String.self
        )
        let caller = Caller(name: call.peer.name, callback: callback)
        guard let session = sessions[caller] else { throw BusError(.failed, "not begun") }
        session.exchange = exchange
        let isIgnored = ignoresConfirmations && type == "confirm"
        let response = isIgnored ? .hang : responses.first ?? .hang
        if responses.count > 1, !isIgnored {
            responses.removeFirst()
        }
        if response != .refuse {
            call.reply()
        }
        respond(response, to: caller, session, type, exchange)
        questions.record(
            PromptQuestion(
                type: type,
                properties: properties,
                caller: caller.name,
                callback: callback,
                exchange: exchange
            )
        )
        if response == .refuse { throw BusError(.failed, "not today") }
    }

    private func respond(
        _ response: PromptResponse,
        to caller: Caller,
        _ session: Session,
        _ type: String,
        _ exchange: String
    ) {
        let publicKey = session.keyPair.publicKey
        switch response {
        case .answer(let password) where type == "password":
            answer(password, to: caller, with: session.keyPair, exchange)
        case .answerWithCheckbox(let password, let isTicked) where type == "password":
            answer(password, to: caller, with: session.keyPair, exchange, isTicked: isTicked)
        case .answerWithCheckbox(_, let isTicked):
            sendReady(caller, "yes", FakePrompter.exchange(["public": publicKey]), isTicked: isTicked)
        case .answerWithShortSecret(let password) where type == "password":
            guard let keyPair = try? FakePrompter.keyPairWithShortSecret(for: exchange) else { return crash() }
            answer(password, to: caller, with: keyPair, exchange)
        case .answer, .answerWithShortSecret:
            sendReady(caller, "yes", FakePrompter.exchange(["public": publicKey]))
        case .cancel:
            sendReady(caller, "no", FakePrompter.exchange(["public": publicKey]))
        case .withdraw:
            sessions[caller] = nil
            callBack(caller, "PromptDone")
        case .crash:
            crash()
        case .says(let reply, let exchange):
            sendReady(caller, reply, exchange)
        case .hang, .refuse:
            break
        }
    }

    // MARK: Calling back

    /// - Parameter isTicked: the new state of the checkbox; the real prompter tells only what has changed.
    private func sendReady(_ caller: Caller, _ reply: String, _ exchange: String, isTicked: Bool? = nil) {
        callBack(caller, "PromptReady") { message in
            // The real prompter wraps each value twice.
            let properties: [String: Variant] = isTicked.map { ["choice-chosen": .variant(.boolean($0))] } ?? [:]
            message.append(reply, properties, exchange)
        }
    }

    private func callBack(_ caller: Caller, _ member: String, _ write: (Message) -> Void = { _ in }) {
        let message = Message.call(to: caller.name, caller.callback, FakePrompter.interface + ".Callback", member)
        write(message)
        connection.send(message)
    }

    // MARK: The exchange

    private static func exchange(_ fields: KeyValuePairs<String, [UInt8]>) -> String {
        "[sx-aes-1]\n" + fields.map { "\($0.key)=\(Data($0.value).base64EncodedString())\n" }.joined()
    }

    private func answer(
        _ password: String,
        to caller: Caller,
        with keyPair: borrowing DiffieHellman,
        _ exchange: String,
        isTicked: Bool? = nil
    ) {
        guard let sealed = try? FakePrompter.seal(password, with: keyPair, for: exchange) else { return crash() }
        sendReady(caller, "yes", sealed, isTicked: isTicked)
    }

    /// Encrypts as GCR 3.41 does, and gnome-keyring with it: without leading zeros of the shared secret.
    private static func seal(
        _ password: String,
        with keyPair: borrowing DiffieHellman,
        for exchange: String
    ) throws -> String {
        let sharedSecret = try sharedSecret(of: keyPair, for: exchange).withUnsafeBytes { bytes in
            try SecureBytes(copying: UnsafeRawBufferPointer(rebasing: bytes.drop { $0 == 0 }))
        }
        let cipher = try SessionCipher(sharedSecret: sharedSecret)
        let (iv, ciphertext) = try Array(password.utf8).withUnsafeBytes { try cipher.encrypt($0) }
        return self.exchange(["public": keyPair.publicKey, "secret": ciphertext, "iv": iv])
    }

    private static func keyPairWithShortSecret(for exchange: String) throws -> DiffieHellman {
        while true {
            let keyPair = try DiffieHellman(.modp1536)
            let isShort = try sharedSecret(of: keyPair, for: exchange).withUnsafeBytes { $0.first == 0 }
            if isShort { return keyPair }
        }
    }

    private static func sharedSecret(of keyPair: borrowing DiffieHellman, for exchange: String) throws -> SecureBytes {
        let line = exchange.split(separator: "\n").first { $0.hasPrefix("public=") }
        let peer = Data(base64Encoded: String(line?.dropFirst("public=".count) ?? "")) ?? Data()
        return try [UInt8](peer).span.withUnsafeBytes { (key) throws(GcryptError) in
            try keyPair.sharedSecret(with: key)
        }
    }
}
