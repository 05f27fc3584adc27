import Glibc
import KeychaindGcrypt

@testable import KeychaindAuthentication
@testable import KeychaindDBus
@testable import KeychaindDesktop

/// What services of the buses send, read as the daemon does, but without a bus.
extension FuzzReader {
    static let replies = [
        // The first byte chooses the message, the second is the size of a signature behind it, or zero for the proper
        // one; the rest is the body.
        FuzzReader("replies") { bytes in
            guard bytes.count >= 2 else { throw Refusal() }
            let sent = SentMessage.all[Int(bytes[0]) % SentMessage.all.count]
            let signature = bytes.dropFirst(2).prefix(Int(bytes[1]))
            var wire = sent.wire
            if !signature.isEmpty { wire.signature = String(decoding: signature, as: UTF8.self) }
            guard let message = wire.message(bytes.dropFirst(2 + signature.count)) else { throw Refusal() }
            try sent.read(message)
        },
        // What KDE's prompter writes.
        FuzzReader("password-pipe") { bytes in
            var ends: [CInt] = [0, 0]
            guard pipe(&ends) == 0 else { return }
            let output = FileDescriptor(owning: ends[0])
            let count = write(ends[1], bytes.baseAddress, min(bytes.count, 32 << 10))
            close(ends[1])
            try onEventLoop {
                let reader = try PasswordReader(output)
                let end = Promise<PromptError?>()
                reader.start { error in end.fulfill(error) }
                if let error = await end.value() { throw error }
                let password = try reader.takePassword()
                promise(password.count == max(0, count), "a password is read to its end")
            }
        },
    ]
}

/// A message of a service, and what reads it.
private struct SentMessage: Sendable {
    let wire: WireMessage
    let read: @Sendable (Message) throws -> Void

    private static let service = ":1.5"

    static let all: [SentMessage] = [
        .sent(.call, "PromptReady", "sa{sv}s") { message in
            let ready = try GCRReady(from: message)
            message.wipeStrings()
            promise(try GCRReady(from: message).reply.isEmpty, "what a prompter has sent is overwritten")
            guard let answer = ready.exchange, answer.password != nil else { return }
            let exponent = try SecureBytes(copying: [3], in: .locked)
            let exchange = GCRExchange(keyPair: try DiffieHellman(.modp1536, exponent: exponent))
            _ = try exchange.openPassword(in: answer)
        },
        // The user manager's variables, which decide whether KDE's prompter is asked.
        .reply("v") { message in
            let variables = SessionEnvironment.variables(in: message)
            _ = SessionEnvironment.isKDE(variables)
            _ = SessionEnvironment.hasDisplay(variables)
        },
        // fprintd.
        .reply("ao") { message in _ = try FprintService.devices(in: message) },
        .reply("as") { message in _ = try FprintDevice.fingers(in: message) },
        .reply("a{sv}") { message in _ = try FprintDevice.description(in: message) },
        .sent(.signal, "VerifyStatus", "sb") { message in try require(FprintClaim.Event(message)) },
        .sent(.signal, "VerifyFingerSelected", "s") { message in try require(FprintClaim.Event(message)) },
        // logind.
        .reply("v") { message in _ = try LogindValue.display(in: message) },
        .reply("v") { message in _ = try LogindValue.user(in: message) },
        .reply("v") { message in _ = try LogindValue.text(in: message) },
        .reply("v") { message in _ = try LogindValue.number(in: message) },
        .reply("v") { message in _ = try LogindValue.flag(in: message) },
        .sent(.signal, "PropertiesChanged", "sa{sv}as") { message in
            _ = SessionWatch.tellsOfLock(message)
        },
        // Notifications.
        .reply("as") { message in _ = NotificationService.canAct(message) },
        .sent(.signal, "ActionInvoked", "us") { message in try require(NotificationService.Signal(message)) },
        .sent(.signal, "NotificationClosed", "uu") { message in try require(NotificationService.Signal(message)) },
        // The bus.
        .reply("s") { message in _ = try Connection.uniqueName(in: message) },
        .sent(.signal, "NameOwnerChanged", "sss") { message in try require(OwnerChange(message)) },
    ]

    private static func require<Value>(_ value: Value?) throws {
        if value == nil { throw FuzzReader.Refusal() }
    }

    private static func reply(
        _ signature: String,
        _ read: @escaping @Sendable (Message) throws -> Void
    ) -> SentMessage {
        let kind = WireMessage.Kind.reply(to: 1)
        return SentMessage(
            wire: WireMessage(kind: kind, sender: service, path: nil, member: nil, signature: signature),
            read: read
        )
    }

    private static func sent(
        _ kind: WireMessage.Kind,
        _ member: String,
        _ signature: String,
        _ read: @escaping @Sendable (Message) throws -> Void
    ) -> SentMessage {
        let wire = WireMessage(
            kind: kind,
            sender: service,
            interface: "org.example.Service",
            member: member,
            signature: signature
        )
        return SentMessage(wire: wire, read: read)
    }
}
