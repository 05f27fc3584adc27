import CKeychaindDBus
import Dispatch

@testable import KeychaindDBus

/// A bus with one service, which answers calls, sends signals and calls back as a script says.
///
/// It is in this process, on the event loop, and has one connection. What the bus itself answers is proper.
@BusActor
final class ScriptedBus: TurnParticipant {
    /// The unique name of the service, which owns every name.
    static let service = ":1.5"

    /// The turns of the loop without a message after which the other side waits for the script.
    private static let quietTurns = 3

    /// Called when the script has ended: no answers come any more.
    var onEnd: (@BusActor () -> Void)?

    private let service: ScriptedService
    private var script: Script
    private var line: ScriptedLine?
    private var waiting: [Message] = []
    /// Where the other side wants to be called back, by the first argument of a call.
    private var callbackPath: String?
    private var quiet = 0
    private var hasEnded = false
    private var isDone = false
    private var end: Promise<Void>?

    /// Runs `body` on the event loop with a bus, and waits until it and the script have ended.
    nonisolated static func run(
        _ service: ScriptedService,
        _ bytes: UnsafeRawBufferPointer,
        _ body: @escaping @BusActor @Sendable (ScriptedBus) async throws -> Void
    ) {
        EventLoop.startThread()
        let script = Script(bytes.copied)
        let done = DispatchSemaphore(value: 0)
        Task { @BusActor in
            await ScriptedBus(service, script).play(body)
            done.signal()
        }
        done.wait()
    }

    private init(_ service: ScriptedService, _ script: Script) {
        self.service = service
        self.script = script
    }

    var address: String { line?.address ?? "" }

    func waitForTheEnd() async {
        let end = Promise<Void>()
        onEnd = { end.fulfill() }
        await end.wait()
    }

    private func play(_ body: @escaping @BusActor @Sendable (ScriptedBus) async throws -> Void) async {
        line = ScriptedLine { [self] in receive($0) }
        BusActor.loop.participants.append(self)
        let end = Promise<Void>()
        self.end = end
        BusActor.start { [self] in
            try? await body(self)
            isDone = true
        }
        await end.wait()
        BusActor.loop.participants.removeAll { $0 === self }
        line?.close()
        line = nil
    }

    // MARK: The script

    /// The line writes at once.
    func flush() {}

    /// Takes the next record when the other side has nothing to do.
    func dispatch() {
        guard let end, let line else { return }
        BusActor.loop.turnAgain()
        quiet += 1
        guard quiet > Self.quietTurns else { return }
        quiet = 0
        if line.isAuthenticated, let record = script.next() { return perform(record) }
        guard hasEnded else { return endScript() }
        guard isDone else { return refuseCalls() }
        self.end = nil
        end.fulfill()
    }

    private func perform(_ record: Script.Record) {
        switch record {
        case .answer(let signature, let body):
            guard let call = waiting.first else { return }
            waiting.removeFirst()
            let proper = service.answers[call.member ?? ""] ?? "v"
            let reply = answer(.reply(to: call.serial), to: call, signature.text(or: proper))
            if line?.send(reply, body) == false { refuse(call) }
        case .error(let name, let body):
            guard let call = waiting.first else { return }
            waiting.removeFirst()
            if line?.send(answer(.error(to: call.serial, name), to: call, "s"), body) == false { refuse(call, name) }
        case .signal(let index, let signature, let body):
            guard !service.signals.isEmpty else { return }
            let signal = service.signals[index % service.signals.count]
            line?.send(message(.signal, signal, at: signal.path, signature), body)
        case .call(let index, let signature, let body):
            guard !service.calls.isEmpty else { return }
            let call = service.calls[index % service.calls.count]
            line?.send(message(.call, call, at: callbackPath ?? call.path, signature), body)
        }
    }

    private func endScript() {
        // The other side may still connect.
        guard line?.isAuthenticated == true || isDone else { return }
        hasEnded = true
        refuseCalls()
        onEnd?()
        onEnd = nil
        for name in [Self.service] + ScriptedService.names {
            let signal = message(.signal, ScriptedService.ownerChanged, at: "/org/freedesktop/DBus", .proper)
            line?.send(signal, Self.strings([name, Self.service, ""]))
        }
    }

    private func refuseCalls() {
        for call in waiting { refuse(call) }
        waiting = []
    }

    private func refuse(_ call: Message, _ name: ErrorName = .serviceUnknown) {
        line?.send(answer(.error(to: call.serial, name), to: call, ""), [])
    }

    // MARK: Messages

    /// An answer of the one that was called, as no other counts.
    private func answer(_ kind: WireMessage.Kind, to call: Message, _ signature: String) -> WireMessage {
        let isToBus = dbus_message_get_destination(call.pointer).map { String(cString: $0) } == SignalMatch.bus
        let sender = isToBus ? SignalMatch.bus : Self.service
        return WireMessage(kind: kind, sender: sender, path: nil, member: nil, signature: signature)
    }

    private func message(
        _ kind: WireMessage.Kind,
        _ content: ServiceMessage,
        at path: String,
        _ signature: Script.Signature
    ) -> WireMessage {
        WireMessage(
            kind: kind,
            sender: content.sender ?? Self.service,
            path: path,
            interface: content.interface,
            member: content.member,
            signature: signature.text(or: content.signature)
        )
    }

    private static func strings(_ texts: [String]) -> [UInt8] {
        var body: [UInt8] = []
        for text in texts {
            while !body.count.isMultiple(of: 4) { body.append(0) }
            withUnsafeBytes(of: UInt32(text.utf8.count).littleEndian) { body += $0 }
            body += Array(text.utf8) + [0]
        }
        return body
    }

    private func receive(_ call: Message) {
        quiet = 0
        guard dbus_message_get_type(call.pointer) == keychaind_dbus_message_method_call, call.wantsReply else { return }
        let reply = answer(.reply(to: call.serial), to: call, "s")
        switch call.member {
        case "Hello": line?.send(reply, Self.strings([":1.1"]))
        case "GetNameOwner" where hasEnded: refuse(call, .nameHasNoOwner)
        case "GetNameOwner": line?.send(reply, Self.strings([Self.service]))
        default: if hasEnded { refuse(call) } else { waiting.append(call) }
        }
        if call.signature.hasPrefix("o") {
            var reader = call.makeReader()
            callbackPath = (try? ObjectPath(from: &reader))?.rawValue
        }
    }
}
