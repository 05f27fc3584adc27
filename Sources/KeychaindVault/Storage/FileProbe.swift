import CKeychaindLinux
import Glibc

/// Checks the first bytes of a file, so that SQLite never opens or changes a foreign one.
enum FileProbe {
    private static let headerSize = 100
    private static let magic = Array("SQLite format 3\0".utf8)
    private static let versionOffset = 60
    private static let applicationOffset = 68

    /// Throws unless the file is a regular SQLite database of the application, in this version of its format.
    ///
    /// Do not call it while a connection to the file is open: closing the file drops the process's locks on it.
    static func check(_ path: String, application: UInt32, version: UInt32) throws(VaultError) {
        let file = Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ELOOP { throw VaultError(.unreadable, reason: "it is a symbolic link") }
            throw VaultError(errno: errno, doing: "open the file")
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { throw VaultError(errno: errno, doing: "look at the file") }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw VaultError(.unreadable, reason: "it is not a regular file")
        }
        guard status.st_size > 0 else { throw VaultError(.unreadable, reason: "the file is empty") }

        var header = [UInt8](repeating: 0, count: headerSize)
        let count = header.withUnsafeMutableBytes { buffer in
            var count = pread(file, buffer.baseAddress, headerSize, 0)
            while count < 0, errno == EINTR { count = pread(file, buffer.baseAddress, headerSize, 0) }
            return count
        }
        // A disk that does not answer says nothing about the file.
        guard count >= 0 else { throw VaultError(errno: errno, doing: "read the file") }
        guard count == headerSize, header.starts(with: magic) else {
            throw VaultError(.unreadable, reason: "the file is not a database")
        }
        guard integer(in: header, at: applicationOffset) == application else {
            throw VaultError(.unreadable, reason: "the file is another program's database")
        }
        try check(Int64(integer(in: header, at: versionOffset)), is: version)
    }

    static func check(_ found: Int64, is version: UInt32) throws(VaultError) {
        guard found == version else {
            throw VaultError(
                .unsupportedFormat,
                reason: "the file has format \(found); this version of keychaind reads format \(version)"
            )
        }
    }

    private static func integer(in header: [UInt8], at offset: Int) -> UInt32 {
        header[offset..<offset + 4].reduce(0) { value, byte in value << 8 | UInt32(byte) }
    }
}
