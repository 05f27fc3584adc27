import Foundation

/// Somebody who listens for sequential packets at a path, and accepts no connection.
final class PacketListener: Sendable {
    private let descriptor: Int32

    /// Listens; the file stays when this goes.
    init(at path: String) throws {
        descriptor = PacketListener.makeSocket()
        guard PacketListener.withAddress(path, { bind(descriptor, $0, $1) }) == 0, listen(descriptor, 8) == 0 else {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
    }

    deinit {
        close(descriptor)
    }

    /// Whether somebody has connected.
    var hasConnections: Bool {
        var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&event, 1, 0) > 0
    }

    /// Whether somebody listens at a path.
    static func canConnect(to path: String) -> Bool {
        let descriptor = makeSocket()
        defer { close(descriptor) }
        return withAddress(path) { connect(descriptor, $0, $1) } == 0
    }

    private static func makeSocket() -> Int32 {
        socket(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    }

    private static func withAddress(
        _ path: String,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
