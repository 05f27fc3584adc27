import CKeychaindLinux
import Glibc
import KeychaindArchive
import KeychaindForeignFiles
import KeychaindGcrypt

/// Encrypted archives: as a file, and what is behind the encryption.
extension FuzzReader {
    static let archives = [
        FuzzReader("archive") { bytes in
            // A derivation with large costs is no finding, and takes seconds.
            guard bytes.count < 20 || bytes[8..<12].elementsEqual([0, 0, 0, 8]) else { throw Refusal() }
            try withArchive { file in
                _ = write(file, bytes.baseAddress, bytes.count)
            }
        },
        FuzzReader("archive-records") { bytes in
            try withArchive { file in
                let new = try ArchiveHeader.make(
                    password: try SecureBytes(copying: Array("password".utf8)),
                    cost: Argon2id(memoryKiB: 8, iterations: 1, lanes: 1),
                    created: 0
                )
                var output = try ArchiveOutput(file, header: new.header, key: new.key)
                try output.append(bytes)
                try output.finish()
            }
        },
    ]

    /// Reads the archive that `body` writes, whose password is `password`.
    private static func withArchive(_ body: (CInt) throws -> Void) throws {
        let file = keychaind_memory_file("archive")
        guard file >= 0 else { return }
        defer { close(file) }
        try body(file)
        lseek(file, 0, SEEK_SET)
        var reader = try ArchiveReader(from: file, password: try SecureBytes(copying: Array("password".utf8)))
        while let item = try reader.next() { _ = item.secret.count }
        promise(reader.itemCount < 1 << 20, "an archive has no more items than bytes")
    }
}
