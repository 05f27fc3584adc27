import CKeychaindDBus
import CKeychaindLinux
import Glibc

@testable import KeychaindDBus

/// The bus's end of one connection: authenticates the other side, and takes its messages apart.
@BusActor
final class ScriptedLine {
    /// The password behind the descriptors that messages carry.
    private static let password = "correct horse"

    private static var count = 0

    let address: String
    private(set) var isAuthenticated = false
    private let listener: CInt
    private let onMessage: @BusActor (Message) -> Void
    private var line: CInt = -1
    private var input: [UInt8] = []

    init(onMessage: @escaping @BusActor (Message) -> Void) {
        Self.count += 1
        let name = "keychaind-fuzz-\(getpid())-\(Self.count)"
        address = "unix:abstract=\(name)"
        listener = Self.listen(to: name)
        self.onMessage = onMessage
        BusActor.loop.watchReadable(listener) { [self] in accept() }
    }

    private static func listen(to name: String) -> CInt {
        let kind = CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let listener = socket(AF_UNIX, kind, 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // Behind a zero: an abstract address.
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            UnsafeMutableRawBufferPointer(rebasing: path.dropFirst()).copyBytes(from: name.utf8)
        }
        let size = socklen_t(MemoryLayout<sa_family_t>.size + 1 + name.utf8.count)
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, size) }
        }
        precondition(status == 0 && Glibc.listen(listener, 1) == 0, "there is no socket for the bus")
        return listener
    }

    func close() {
        for descriptor in [listener, line] where descriptor >= 0 {
            BusActor.loop.unwatch(descriptor)
            Glibc.close(descriptor)
        }
    }

    // MARK: Sending

    /// Sends a message, with a pipe for its descriptors, unless libdbus would end the connection for it.
    @discardableResult
    func send(_ message: WireMessage, _ body: some Collection<UInt8>) -> Bool {
        var message = message
        // A descriptor is an index among those that come with the message.
        let hasDescriptor = message.signature.contains("h")
        var numbered = message
        numbered.signature = message.signature.replacing("h", with: "u")
        guard line >= 0, numbered.message(body) != nil else { return false }
        guard hasDescriptor else { return write(message.bytes(body)) }
        message.descriptors = 1
        var ends: [CInt] = [0, 0]
        guard pipe(&ends) == 0 else { return false }
        _ = Glibc.write(ends[1], Self.password, Self.password.utf8.count)
        Glibc.close(ends[1])
        defer { Glibc.close(ends[0]) }
        return message.bytes(body).withUnsafeBytes { bytes in
            keychaind_send_descriptor(line, nil, 0, bytes.baseAddress, bytes.count, ends[0]) == bytes.count
        }
    }

    private func write(_ bytes: [UInt8]) -> Bool {
        Glibc.send(line, bytes, bytes.count, CInt(MSG_NOSIGNAL)) == bytes.count
    }

    // MARK: Receiving

    private func accept() {
        let line = Glibc.accept(listener, nil, nil)
        guard line >= 0, self.line < 0 else { return }
        self.line = line
        BusActor.loop.watchReadable(line) { [self] in receive() }
    }

    private func receive() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(line, &bytes, bytes.count, CInt(MSG_DONTWAIT))
        guard count > 0 else {
            // The other side has closed its end.
            if count == 0 { BusActor.loop.unwatch(line) }
            return
        }
        input += bytes.prefix(count)
        while !isAuthenticated, let end = input.firstIndex(of: UInt8(ascii: "\n")) {
            let text = String(decoding: input[...end], as: UTF8.self)
            input.removeSubrange(...end)
            authenticate(text)
        }
        while isAuthenticated, let message = takeMessage() { onMessage(message) }
    }

    private func authenticate(_ text: String) {
        switch text.trimmingPrefix("\0").prefix(5) {
        case "AUTH ": _ = write(Array("OK 0123456789abcdef0123456789abcdef\r\n".utf8))
        case "NEGOT": _ = write(Array("AGREE_UNIX_FD\r\n".utf8))
        default: isAuthenticated = true
        }
    }

    private func takeMessage() -> Message? {
        let size = input.withUnsafeBytes { bytes in
            let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            return bytes.count < 16 ? 0 : Int(dbus_message_demarshal_bytes_needed(start, CInt(bytes.count)))
        }
        guard size > 0, input.count >= size else { return nil }
        defer { input.removeFirst(size) }
        return input.withUnsafeBytes { WireMessage.demarshal(UnsafeRawBufferPointer(rebasing: $0.prefix(size))) }
    }
}
