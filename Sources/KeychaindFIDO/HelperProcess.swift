import CKeychaindLinux
import Glibc
import KeychaindAuthentication
import KeychaindDBus
import KeychaindGcrypt
import KeychaindModel
import Logging

/// A helper process for one operation; lives until the process is reaped.
@BusActor
final class HelperProcess: SecurityKeyOperation {
    private enum State {
        case new
        case running(socket: Int32, limit: Timer)
        case ended
    }

    /// The time of a whole operation, as long as a dialog.
    private static let limit = Duration.seconds(300)

    /// From the end of an operation to SIGKILL.
    private static let patience = Duration.seconds(3)

    /// Called once, when there is no process any more.
    var onReaped: (@BusActor () -> Void)?

    private let logger: Logger
    private let notice: @BusActor (SecurityKeyFailure) -> Void
    private let result = Promise<SecurityKeyOutcome>()
    private var request: SecurityKeyRequest?
    private var secret: SecureBytes?
    private var state = State.new
    private var patience: Timer?

    init(logger: Logger, notice: @escaping @BusActor (SecurityKeyFailure) -> Void) {
        self.logger = logger
        self.notice = notice
    }

    func outcome() async -> SecurityKeyOutcome {
        await result.value()
    }

    func takeSecret() -> SecureBytes? {
        secret.take()
    }

    func cancel() {
        end(.failed(.cancelled))
    }

    func start(_ message: HelperRequest, pin: consuming SecureBytes?) {
        // A key would count it as a wrong one, or get only the first part.
        guard HelperProcess.isPossible(pin) else {
            state = .ended
            result.fulfill(.failed(.wrongPIN(tries: nil)))
            onReaped?()
            return onReaped = nil
        }
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard case .new = state, socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return fail("there is no socket") }
        request = message.request
        let (id, status) = HelperProcess.spawn(socket: ends[1])
        close(ends[1])
        guard status == 0 else {
            close(ends[0])
            return fail(String(cString: strerror(status)))
        }
        let socket = ends[0]
        _ = fcntl(socket, F_SETFL, O_NONBLOCK)
        let limit = BusActor.loop.schedule(after: Self.limit) { [weak self] in self?.end(.failed(.notTouched)) }
        state = .running(socket: socket, limit: limit)
        BusActor.loop.watchReadable(socket) { [weak self] in self?.receive() }
        guard watch(id) else { return fail("its process cannot be watched") }
        let bytes = message.encoded
        guard send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count, sendPIN(pin, on: socket) else {
            return end(.failed(.failed))
        }
    }

    /// Whether a text can be a PIN of CTAP2; none can.
    private static func isPossible(_ pin: borrowing SecureBytes?) -> Bool {
        pin?.withUnsafeBytes { (4...63).contains($0.count) && !$0.contains(0) } ?? true
    }

    /// Sends the PIN with a byte before it, since an empty packet would look like the end.
    private func sendPIN(_ pin: consuming SecureBytes?, on socket: Int32) -> Bool {
        let count = pin?.count ?? 0
        guard var packet = try? SecureBytes(count: 1 + count, in: .locked) else { return false }
        packet.withUnsafeMutableBytes { packet in
            pin?.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: packet[1...]).copyMemory(from: $0) }
        }
        return packet.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) } == 1 + count
    }

    // MARK: Receiving

    private func receive() {
        while case .running(let socket, _) = state {
            var bytes = [UInt8](repeating: 0, count: HelperMessage.limit)
            let count = recv(socket, &bytes, bytes.count, 0)
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            guard count > 0, let answer = HelperAnswer(decoding: bytes[..<count]) else {
                logger.error("The helper for security keys has ended without an answer")
                return end(.failed(.failed))
            }
            receive(answer, on: socket)
        }
    }

    private func receive(_ answer: HelperAnswer, on socket: Int32) {
        switch (answer, request) {
        case (.notice(let failure), _):
            notice(failure)
        case (.failed(let failure), _):
            end(.failed(failure))
        case (.found(let hasPIN), .look):
            end(.found(hasPIN: hasPIN))
        case (.made(let id), .make(let salt, let needsPIN, _)):
            guard let credential = SecurityKeyCredential(id: id, salt: salt, needsPIN: needsPIN),
                receiveSecret(on: socket)
            else { return end(.failed(.failed)) }
            end(.made(credential))
        case (.opened, .open):
            end(receiveSecret(on: socket) ? .opened : .failed(.failed))
        case (.found, _), (.made, _), (.opened, _):
            end(.failed(.failed))
        }
    }

    /// Receives the secret, which was sent with the answer, into locked memory.
    private func receiveSecret(on socket: Int32) -> Bool {
        guard var secret = try? SecureBytes(count: HelperMessage.secretSize, in: .locked) else { return false }
        var event = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        guard poll(&event, 1, 1000) == 1 else { return false }
        let count = secret.withUnsafeMutableBytes { recv(socket, $0.baseAddress, $0.count, 0) }
        guard count == HelperMessage.secretSize else { return false }
        self.secret = consume secret
        return true
    }

    // MARK: Ending

    /// Closes the socket, which has the helper cancel what it does, and delivers the outcome.
    private func end(_ outcome: SecurityKeyOutcome) {
        guard case .running(let socket, let limit) = state else { return }
        state = .ended
        BusActor.loop.cancel(limit)
        BusActor.loop.unwatch(socket)
        close(socket)
        request = nil
        result.fulfill(outcome)
    }

    private func fail(_ reason: String) {
        logger.error("The helper for security keys cannot be started", metadata: ["reason": "\(reason)"])
        end(.failed(.failed))
        state = .ended
        result.fulfill(.failed(.failed))
        onReaped?()
        onReaped = nil
    }

    /// Reaps the process when it ends, and kills it if it outlives its operation; at once if it cannot be watched.
    private func watch(_ id: pid_t) -> Bool {
        let handle = keychaind_process_descriptor(id)
        guard handle >= 0 else {
            kill(id, SIGKILL)
            waitpid(id, nil, 0)
            return false
        }
        result.onFulfillment { [weak self] _ in
            self?.patience = BusActor.loop.schedule(after: Self.patience) {
                guard let self, self.patience != nil else { return }
                self.patience = nil
                kill(id, SIGKILL)
            }
        }
        BusActor.loop.watchReadable(handle) { [self] in
            guard waitpid(id, nil, WNOHANG) == id else { return }
            BusActor.loop.unwatch(handle)
            close(handle)
            // Its last answer may be unread.
            receive()
            end(.failed(.failed))
            patience.map(BusActor.loop.cancel)
            patience = nil
            onReaped?()
            onReaped = nil
        }
        return true
    }

    /// Starts the program itself, which no file can replace; in a domain with the group, so that no other can trace it.
    private static func spawn(socket: Int32) -> (id: pid_t, status: Int32) {
        var status: Int32 = 0
        var arguments: [UnsafeMutablePointer<CChar>?] = HelperMessage.arguments.map { strdup($0) }
        defer { arguments.forEach { free($0) } }
        arguments.append(nil)
        let environment: [UnsafeMutablePointer<CChar>?] = [nil]
        let id = keychaind_spawn_with("/proc/self/exe", arguments, environment, [socket, -1, -1], 3, 1, &status)
        return (id, status)
    }
}
