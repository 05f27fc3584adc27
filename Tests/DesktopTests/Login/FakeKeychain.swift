import KeychaindDBus
import KeychaindDesktop
import KeychaindGcrypt
import KeychaindTestSupport

/// A keychain that records the requests of logins.
@BusActor
final class FakeKeychain: LoginKeychain {
    enum Event: Equatable {
        case unlock([UInt8], LoginPeer)
        case change([UInt8], [UInt8])
    }

    enum End {
        case atOnce
        case atFinish
    }

    nonisolated let events = Recorder<Event>()
    /// When an unlock ends.
    var end = End.atFinish
    /// The reply to a change.
    var reply = LoginReply(.changed, collections: 2)
    private var unlocking: [CheckedContinuation<Void, Never>] = []

    nonisolated init() {}

    func unlock(_ password: consuming SecureBytes, from peer: LoginPeer) async {
        events.record(.unlock(password.withUnsafeBytes { Array($0) }, peer))
        guard end == .atFinish else { return }
        await withCheckedContinuation { unlocking.append($0) }
    }

    func change(
        _ password: consuming SecureBytes,
        to newPassword: consuming SecureBytes,
        from peer: LoginPeer
    ) async -> LoginReply {
        events.record(.change(password.withUnsafeBytes { Array($0) }, newPassword.withUnsafeBytes { Array($0) }))
        return reply
    }

    /// Ends all unlocking.
    func finish() {
        for continuation in unlocking { continuation.resume() }
        unlocking = []
    }
}
