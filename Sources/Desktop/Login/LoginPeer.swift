import CLinux
import Glibc

/// Who may speak for a login: root, in whose name PAM works, and the user whose keychains they are.
package enum LoginPeer: Equatable, Sendable {
    case root
    case user

    /// Tells them apart from everybody else; nil for whoever may not.
    init?(user: Int64, owner: uid_t) {
        switch user {
        case 0: self = .root
        case Int64(owner): self = .user
        default: return nil
        }
    }

    /// The one on the other side of a connection.
    init?(of connection: Int32) {
        self.init(user: keychaind_peer_user(connection), owner: geteuid())
    }
}
