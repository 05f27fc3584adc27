import CKeychaindLinux
import Glibc
import KeychaindGcrypt

/// The keys of unlocked keychains, kept by systemd while the service restarts.
///
/// They are in a memory file of sealed size, which the next process overwrites after reading.
enum KeptKeys {
    /// The name of the descriptor in systemd's store.
    static let name = "keychain-keys"

    private static let maximumSize = 128 << 10

    /// The reason why keys could not be stored.
    struct Failure: Error {
        let reason: String

        fileprivate init() {
            reason = String(cString: strerror(errno))
        }
    }

    /// Stores keys for the next process.
    static func leave(_ keys: borrowing SecureBytes) throws(Failure) {
        let descriptor = keychaind_memory_file(name)
        guard descriptor >= 0 else { throw Failure() }
        defer { close(descriptor) }
        let isWritten = keys.withUnsafeBytes { bytes in
            write(descriptor, bytes.baseAddress, bytes.count) == bytes.count
        }
        guard isWritten, fcntl(descriptor, keychaind_add_seals, keychaind_seals_of_size) == 0 else { throw Failure() }
        ServiceManager.keep(descriptor, as: name)
    }

    /// Takes the previous process's keys and removes them from systemd's store; nil if there are none.
    static func take(_ descriptors: [Int32]) -> SecureBytes? {
        guard !descriptors.isEmpty else { return nil }
        ServiceManager.forget(name)
        defer {
            for descriptor in descriptors { close(descriptor) }
        }
        // The last valid one wins.
        var keys: SecureBytes?
        for descriptor in descriptors {
            if let read = read(descriptor) { keys = .some(read) }
        }
        return keys
    }

    private static func read(_ descriptor: Int32) -> SecureBytes? {
        var status = stat()
        // Only what has the seals of `leave(_:)` is overwritten. For a file that can have none, the call fails with -1,
        // whose bits are all set. Some kernels add a seal of their own.
        let seals = fcntl(descriptor, keychaind_get_seals)
        guard seals >= 0, seals & keychaind_seals_of_size == keychaind_seals_of_size,
            fstat(descriptor, &status) == 0, status.st_size > 0, status.st_size <= maximumSize
        else { return nil }
        let size = Int(status.st_size)
        guard var keys = try? SecureBytes(count: size, in: .locked) else { return nil }
        let isRead = keys.withUnsafeMutableBytes { bytes in
            defer {
                let zeros = [UInt8](repeating: 0, count: size)
                pwrite(descriptor, zeros, size, 0)
            }
            return pread(descriptor, bytes.baseAddress, size, 0) == size
        }
        guard isRead else { return nil }
        return .some(keys)
    }
}
