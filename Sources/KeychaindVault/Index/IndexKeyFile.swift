import CKeychaindLinux
import Glibc
import KeychaindGcrypt
import Logging

/// The file with the key of the blind index: 32 random bytes, private to the owner.
enum IndexKeyFile {
    static let name = "index.key"

    private static let unfinishedName = name + "-new"

    /// Reads or creates the key; sets an invalid file aside.
    ///
    /// On a read-only or full disk the key lasts for this process only.
    static func load(from folder: Folder, logger: Logger) throws(VaultError) -> BlindIndexKey {
        if try folder.exists(name) {
            if let key = try read(folder.file(name)) { return try BlindIndexKey(key) }
            logger.error(
                "\(name) is damaged and is kept as \(name).unreadable; an unlock indexes a collection again"
            )
            if folder.isWritable { try folder.rename(name, to: name + ".unreadable") }
        }
        let key = try cipher { () throws(GcryptError) in
            try SecureBytes.random(count: BlindIndexKey.size, in: .locked)
        }
        if folder.isWritable {
            do throws(VaultError) {
                try write(key, to: folder)
            } catch {
                guard error.code == .storageFull else { throw error }
                try? folder.remove(unfinishedName)
                logger.error("\(name) could not be stored; the next start indexes again: \(error.reason)")
            }
        }
        return try BlindIndexKey(key)
    }

    private static func read(_ path: String) throws(VaultError) -> SecureBytes? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ELOOP { return nil }
            throw VaultError(errno: errno, doing: "open \(name)")
        }
        let opened = OpenedFile(owning: file)
        var status = stat()
        guard fstat(file, &status) == 0 else { throw VaultError(errno: errno, doing: "look at \(name)") }
        guard status.st_mode & S_IFMT == S_IFREG,
            status.st_size == off_t(BlindIndexKey.size)
        else { return nil }
        var key = try cipher { () throws(GcryptError) in try SecureBytes(count: BlindIndexKey.size, in: .locked) }
        let count = try key.withUnsafeMutableBytes { (bytes) throws(VaultError) in try opened.read(into: bytes, at: 0) }
        guard count == BlindIndexKey.size else {
            throw VaultError(.storageFailed, reason: "\(name) became shorter while it was read")
        }
        return key
    }

    private static func write(_ key: borrowing SecureBytes, to folder: Folder) throws(VaultError) {
        let unfinished = unfinishedName
        try folder.remove(unfinished)
        try folder.makeEmptyFile(unfinished)
        let file = try OpenedFile(folder.file(unfinished), flags: O_WRONLY)
        try key.withUnsafeBytes { (bytes) throws(VaultError) in try file.write(bytes, at: 0) }
        try folder.synchronize(unfinished)
        try folder.rename(unfinished, to: name)
        try folder.synchronize()
    }
}
