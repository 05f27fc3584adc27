import CKeychaindLinux
import Glibc
import KeychaindDBus
import KeychaindGcrypt
import Logging

/// The connection of a login; it is done with each request before it reads the next, so that it holds one password.
@BusActor
final class LoginConnection {
    private enum State {
        /// Waits for a request, until the timer closes the connection.
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

    /// Fulfilled at the first request, or at the end of the connection.
    let firstRequest = Promise<Void>()

    var isSilent: Bool { !firstRequest.isFulfilled }

    /// Takes over a connected, non-blocking socket.
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

    func start() {
        waitForRequest()
        receive()
    }

    func close() {
        if case .closed = state { return }
        stopReading()
        state = .closed
        Glibc.close(descriptor)
        firstRequest.fulfill()
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
            // One byte more than a request, to detect longer packets.
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
            refuse("there is not enough locked memory")
        }
    }

    private func handle(_ frame: UnsafeRawBufferPointer) {
        do throws(LoginRequest.Flaw) {
            let request = try LoginRequest(parsing: frame)
            switch consume request {
            case .unlock(let password):
                // Acknowledged before the key is derived, so that the login does not wait for it.
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
        let password = Handoff(password)
        BusActor.start { [self] in
            guard let password = password.take() else { return }
            await keychain.unlock(password, from: peer)
            resume()
        }
        firstRequest.fulfill()
    }

    private func change(_ old: consuming SecureBytes, to new: consuming SecureBytes) {
        let (old, new) = (Handoff(old), Handoff(new))
        BusActor.start { [self] in
            guard let old = old.take(), let new = new.take() else { return }
            send(await keychain.change(old, to: new, from: peer))
            resume()
        }
        firstRequest.fulfill()
    }

    /// Lets the event loop read the next request: a sender of many must not keep it from others.
    private func resume() {
        guard case .working = state else { return }
        waitForRequest()
    }

    private func refuse(_ reason: String) {
        logger.warning("Refused a login request", metadata: ["reason": "\(reason)"])
        send(LoginReply(.refused))
        close()
    }

    /// Sends a reply; the requests of a peer that has gone still count.
    private func send(_ reply: LoginReply) {
        if case .closed = state { return }
        let bytes = reply.encoded
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }
}
