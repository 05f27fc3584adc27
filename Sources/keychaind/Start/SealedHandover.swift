import CKeychaindLinux
import Glibc
import KeychaindFiles
import KeychaindGcrypt

/// A file of keys in the domain, sealed with a one-time key that systemd keeps.
///
/// A program in place of keychaind gets the key from systemd but cannot reach the file. Once the service is stopped the
/// key is gone, and the file is worthless.
struct SealedHandover {
    private static let name = "handover"
    private static let longest = 129 << 10

    /// The runtime folder of the domain.
    let directory: String

    private var path: String { "\(directory)/\(Self.name)" }

    /// Writes the file and returns its key.
    func leave(_ keys: borrowing SecureBytes) throws(GcryptError) -> SecureBytes {
        let key = try SecureBytes.random(count: SealingKey.keySize, in: .locked)
        let sealed = try keys.withUnsafeBytes { (bytes) throws(GcryptError) in
            // A one-time key needs no context.
            try SealingKey(key).seal(bytes, associatedData: Self.nothing)
        }
        remove()
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw Self.failure("created") }
        defer { close(file) }
        guard write(file, sealed, sealed.count) == sealed.count else {
            let error = Self.failure("written")
            remove()
            throw error
        }
        return key
    }

    /// Opens the previous process's file with the kept key, and removes it; nil if there is none.
    func take(_ key: borrowing SecureBytes) throws(GcryptError) -> SecureBytes? {
        defer { remove() }
        guard let sealed = try read() else { return nil }
        var keys = try SecureBytes(count: max(0, sealed.count - SealingKey.overhead), in: .locked)
        _ = try sealed.withUnsafeBytes { (sealed) throws(GcryptError) in
            try keys.withUnsafeMutableBytes { (keys) throws(GcryptError) in
                try SealingKey(key).open(sealed, associatedData: Self.nothing, into: keys)
            }
        }
        return .some(keys)
    }

    func remove() {
        unlink(path)
    }

    private func read() throws(GcryptError) -> SecureBytes? {
        guard let file = try? RegularFile(path, followingLink: false), (1...Self.longest).contains(file.size) else {
            return nil
        }
        var bytes = try SecureBytes(count: file.size)
        let descriptor = file.descriptor
        let count = bytes.withUnsafeMutableBytes { FileBytes.fill($0, from: descriptor) }
        guard count == bytes.count else { return nil }
        return .some(bytes)
    }

    private static var nothing: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

    private static func failure(_ what: String) -> GcryptError {
        let reason = String(cString: strerror(errno))
        return GcryptError(.operationFailed, reason: "the file of keys cannot be \(what): \(reason)")
    }
}
