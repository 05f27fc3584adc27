import Glibc

/// A socket address: a path or an abstract name.
struct UnixAddress {
    private var address = sockaddr_un()
    private let length: socklen_t

    /// Creates an address; nil if the name is empty or too long.
    ///
    /// A leading `@` stands for the NUL of an abstract address.
    init?(_ name: String) {
        let bytes = Array(name.utf8)
        guard !bytes.isEmpty, bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            path.copyBytes(from: bytes)
            if bytes[0] == UInt8(ascii: "@") { path[0] = 0 }
        }
        length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
