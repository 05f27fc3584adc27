import CLinux
import DBus
import Gcrypt
import Glibc
import Logging

/// One login's connection: requests one after the other, each answered before the next is read.
@BusActor
final class LoginConnection {
    private enum State {
        /// A request is waited for, until the timer ends it.
        case reading(Timer)
        case working
        case closed
    }

    private let descriptor: Int32
    private let peer: LoginPeer
    private let keychain: any LoginKeychain
    private let requestTime: Duration
    private let logger: Logger
    private let onEnd: @BusActor (LoginConnection) -> Void
    private var state = State.working

    /// Whether nothing has come of it yet.
    private(set) var isSilent = true {
        didSet {
            guard !isSilent else { return }
            let actions = firstRequestActions
            firstRequestActions = []
            for action in actions { action() }
        }
    }

    private var firstRequestActions: [@BusActor () -> Void] = []

    /// Takes over a connected socket that does not block.
    init(
        _ descriptor: Int32,
        peer: LoginPeer,
        keychain: any LoginKeychain,
        requestTime: Duration,
        logger: Logger,
        onEnd: @escaping @BusActor (LoginConnection) -> Void
    ) {
        self.descriptor = descriptor
        self.peer = peer
        self.keychain = keychain
        self.requestTime = requestTime
        self.logger = logger
        self.onEnd = onEnd
    }

    /// Reads what is there, and then what comes.
    func start() {
        waitForRequest()
        receive()
    }

    /// Calls `action` when there has been a request, or will be none; at once if that is so.
    func onFirstRequest(_ action: @escaping @BusActor () -> Void) {
        if isSilent { firstRequestActions.append(action) } else { action() }
    }

    /// Ends the connection.
    func close() {
        if case .closed = state { return }
        stopReading()
        state = .closed
        Glibc.close(descriptor)
        isSilent = false
        onEnd(self)
    }

    private func waitForRequest() {
        let timer = BusActor.loop.schedule(after: requestTime) { [weak self] in self?.close() }
        state = .reading(timer)
        BusActor.loop.watchReadable(descriptor) { [weak self] in self?.receive() }
    }

    private func stopReading() {
        guard case .reading(let timer) = state else { return }
        BusActor.loop.cancel(timer)
        BusActor.loop.unwatch(descriptor)
        state = .working
    }

    private func receive() {
        guard case .reading = state else { return }
        do throws(GcryptError) {
            // One byte more than a request has shows that there was more.
            var buffer = try SecureBytes(count: LoginRequest.frameSize + 1, in: .locked)
            let count = buffer.withUnsafeMutableBytes { buffer in
                recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
            }
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            guard count > 0 else { return close() }
            let frame = buffer
            stopReading()
            try frame.withUnsafeBytes { (bytes) throws(GcryptError) in
                handle(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
            }
        } catch {
            refuse("there is no locked memory for it")
        }
    }

    private func handle(_ frame: UnsafeRawBufferPointer) {
        do throws(LoginRequest.Flaw) {
            let request = try LoginRequest(parsing: frame)
            switch consume request {
            case .unlock(let password):
                // Acknowledged before the key is derived: a login does not wait for what the session will wait for if it has to.
                send(LoginReply(.taken))
                unlock(password)
            case .change(let old, let new):
                change(old, to: new)
            }
        } catch {
            refuse("\(error)")
        }
    }

    private func unlock(_ password: consuming SecureBytes) {
        let password = LoginPassword(password)
        BusActor.start { [self] in
            guard let password = password.take() else { return }
            await keychain.unlock(password, from: peer)
        }
        isSilent = false
        resume()
    }

    private func change(_ old: consuming SecureBytes, to new: consuming SecureBytes) {
        let (old, new) = (LoginPassword(old), LoginPassword(new))
        BusActor.start { [self] in
            guard let old = old.take(), let new = new.take() else { return }
            send(await keychain.change(old, to: new, from: peer))
            resume()
        }
        isSilent = false
    }

    /// Reads on, in what the peer has sent meanwhile first.
    private func resume() {
        guard case .working = state else { return }
        waitForRequest()
        receive()
    }

    private func refuse(_ reason: String) {
        logger.warning("A login's request was refused", metadata: ["reason": "\(reason)"])
        send(LoginReply(.refused))
        close()
    }

    /// Sends a reply; the peer may have gone, and what it has sent before counts all the same.
    private func send(_ reply: LoginReply) {
        if case .closed = state { return }
        let bytes = reply.encoded
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }
}
