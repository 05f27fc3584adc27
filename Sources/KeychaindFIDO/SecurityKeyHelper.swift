import CKeychaindFIDO
import CKeychaindLinux
import Glibc
import KeychaindAuthentication
import KeychaindDBus
import KeychaindGcrypt
import KeychaindModel

/// The process that speaks with security keys: libfido2 and OpenSSL stay out of the daemon, which holds the keys.
///
/// Serves one request on a SOCK_SEQPACKET socket, and ends with it or when the other side closes.
package enum SecurityKeyHelper {
    /// Whether the program was started as the helper.
    package static func isAsked(for arguments: [String]) -> Bool {
        arguments.dropFirst().elementsEqual(HelperMessage.arguments.dropFirst())
    }

    package static func run(on socket: Int32) -> Never {
        // At the end of the daemon, the socket says so; a SIGTERM would leave the key blinking.
        signal(SIGTERM, SIG_IGN)
        guard let request = receiveRequest(on: socket), let pin = receivePIN(on: socket) else { _exit(EX_DATAERR) }
        let current = CurrentKey()
        guard BlockingThread.start({ endWithClient(on: socket, current) }) else { _exit(EX_OSERR) }
        let pass = KeyPass(folder: request.folder, current: current) { send(.notice($0), on: socket) }
        do throws(SecurityKeyFailure) {
            let result = try pass.perform(request.request, pin)
            send(result.answer, on: socket)
            result.secret?.withUnsafeBytes { _ = Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        } catch {
            send(.failed(current.isCancelled ? .cancelled : error), on: socket)
        }
        _exit(0)
    }

    private static func receiveRequest(on socket: Int32) -> HelperRequest? {
        var bytes = [UInt8](repeating: 0, count: HelperMessage.limit)
        let count = recv(socket, &bytes, bytes.count, 0)
        guard count > 0 else { return nil }
        return HelperRequest(decoding: bytes[..<count])
    }

    /// The PIN with a byte before it, since an empty packet would look like the end.
    private static func receivePIN(on socket: Int32) -> PIN? {
        guard var bytes = try? SecureBytes(count: 128, in: .locked) else { return nil }
        let count = bytes.withUnsafeMutableBytes { recv(socket, $0.baseAddress, $0.count, 0) }
        guard count > 0 else { return nil }
        bytes.truncate(to: count)
        bytes.removeFirst(1)
        return try? PIN(bytes)
    }

    private static func send(_ answer: HelperAnswer, on socket: Int32) {
        let bytes = answer.encoded
        _ = Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Cancels the operation when the other side closes; ends the process if that does not help.
    private static func endWithClient(on socket: Int32, _ current: CurrentKey) {
        var byte: UInt8 = 0
        while recv(socket, &byte, 1, 0) > 0 {}
        // Repeated, since the key ignores it before the operation has begun.
        for _ in 0..<10 {
            current.cancel()
            usleep(100_000)
        }
        _exit(EX_TEMPFAIL)
    }
}
