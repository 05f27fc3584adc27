import CKeychaindLinux
import Glibc

/// The pages of a database file, with the newer ones of its journal, read without SQLite.
///
/// Do not open one while a connection to the file is open: closing it drops the locks of the process.
final class PageFile {
    /// In bytes; the size of a file of ours.
    private static let usualPageSize = 4096

    let pageSize: Int
    /// The bytes of a page that SQLite uses.
    let usableSize: Int
    let count: Int

    private let file: ReadableFile
    private let journalFile: ReadableFile?
    private let journal: Journal?

    /// Throws `unreadable` unless it is a regular file, `limitExceeded` past `maximumSize`, and disk errors.
    init(_ path: String, maximumSize: off_t) throws(VaultError) {
        guard let file = ReadableFile(path) else {
            if errno == ELOOP { throw VaultError(.unreadable, reason: "it is a symbolic link") }
            throw VaultError(errno: errno, doing: "open the file")
        }
        guard let fileSize = file.size else { throw VaultError(.unreadable, reason: "it is not a regular file") }
        guard fileSize <= maximumSize else { throw VaultError(.limitExceeded, reason: "the file is too large") }
        self.file = file
        journalFile = ReadableFile(path + "-wal")
        // Without it the latest changes would be missing.
        if journalFile == nil, errno != ENOENT, errno != ELOOP {
            throw VaultError(errno: errno, doing: "open the journal")
        }
        let header = file.read(count: 100, at: 0) ?? []
        let size = header.starts(with: Array("SQLite format 3\0".utf8)) ? Int(header[16]) << 8 | Int(header[17]) : 0
        pageSize = (9...15).contains(where: { shift in size == 1 << shift }) ? size : Self.usualPageSize
        usableSize = pageSize - (size == pageSize ? min(Int(header[20]), 32) : 0)
        let pageSize = pageSize
        journal = journalFile.map { file in Journal(file, pageSize: pageSize) }
        let pages = (Int(fileSize) + pageSize - 1) / pageSize
        count = min(max(pages, journal?.pageCount ?? 0), Int(maximumSize) / pageSize)
    }

    /// Whether the journal has changes behind damage; SQLite would pass over and overwrite them.
    var journalIsDamaged: Bool {
        guard let journal else { return false }
        if journal.hasValidHeader { return journal.isInterrupted }
        // A crash may tear the header, but only while all pages are in the file, too.
        return journal.places.contains { number, place in
            let journaled = journalFile?.read(count: pageSize, at: place)
            // What the disk does not return now may not be damaged.
            return page(number).map { page in journaled != nil && page != journaled } ?? false
        }
    }

    /// The bytes of a page, from 1; nil if there is none, or the disk does not return it.
    subscript(number: Int) -> [UInt8]? {
        guard (1...max(1, count)).contains(number) else { return nil }
        if let place = journal?.places[number] { return journalFile?.read(count: pageSize, at: place) }
        return page(number)
    }

    private func page(_ number: Int) -> [UInt8]? {
        file.read(count: pageSize, at: off_t(number - 1) * off_t(pageSize))
    }
}

extension [UInt8] {
    /// The big-endian integer of four bytes.
    func integer(at place: Int) -> UInt32 {
        self[place..<place + 4].reduce(0) { value, byte in value << 8 | UInt32(byte) }
    }
}
