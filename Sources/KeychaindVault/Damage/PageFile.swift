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
    private let journal: ReadableFile?
    /// The places of the pages in the journal.
    private let journaled: [Int: off_t]

    /// Throws `unreadable` unless it is a regular file, `limitExceeded` past `maximumSize`, and disk errors.
    init(_ path: String, maximumSize: off_t) throws(VaultError) {
        guard let file = ReadableFile(path) else {
            if errno == ELOOP { throw VaultError(.unreadable, reason: "it is a symbolic link") }
            throw VaultError(errno: errno, doing: "open the file")
        }
        guard let fileSize = file.size else { throw VaultError(.unreadable, reason: "it is not a regular file") }
        guard fileSize <= maximumSize else { throw VaultError(.limitExceeded, reason: "the file is too large") }
        self.file = file
        journal = ReadableFile(path + "-wal")
        // Without it the latest changes would be missing.
        if journal == nil, errno != ENOENT, errno != ELOOP {
            throw VaultError(errno: errno, doing: "open the journal")
        }
        let header = file.read(count: 100, at: 0) ?? []
        let size = header.starts(with: Array("SQLite format 3\0".utf8)) ? Int(header[16]) << 8 | Int(header[17]) : 0
        pageSize = (9...15).contains(where: { shift in size == 1 << shift }) ? size : Self.usualPageSize
        usableSize = pageSize - (size == pageSize ? min(Int(header[20]), 32) : 0)
        var pages = (Int(fileSize) + pageSize - 1) / pageSize
        var places: [Int: off_t] = [:]
        if let journal {
            var frames = JournalFrames(journal, pageSize: pageSize)
            while let commit = frames.nextCommit() {
                pages = max(pages, commit.pages)
                places.merge(commit.places) { _, new in new }
            }
        }
        count = min(pages, Int(maximumSize) / pageSize)
        journaled = places
    }

    /// The bytes of a page, from 1; nil if there is none, or the disk does not return it.
    subscript(number: Int) -> [UInt8]? {
        guard (1...max(1, count)).contains(number) else { return nil }
        if let place = journaled[number] { return journal?.read(count: pageSize, at: place) }
        return file.read(count: pageSize, at: off_t(number - 1) * off_t(pageSize))
    }
}

/// A file that is open for reading; what the disk does not return is read again, since its failure may pass.
private final class ReadableFile {
    private static let attempts = 3

    private let descriptor: CInt
    // A disk that fails again and again does not recover: for each page, that would take minutes.
    private var patience = 30

    /// Nil with an error number.
    init?(_ path: String) {
        let descriptor = Glibc.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }

    /// Nil unless it is a regular file.
    var size: off_t? {
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG ? status.st_size : nil
    }

    /// Reads bytes; those behind the end of the file are zero.
    ///
    /// Nil if the file ends before them, or the disk does not return them.
    func read(count: Int, at place: off_t) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        var failures = 0
        while filled < count {
            let read = bytes.withUnsafeMutableBytes { buffer in
                pread(descriptor, buffer.baseAddress?.advanced(by: filled), count - filled, place + off_t(filled))
            }
            if read == 0 { break }
            if read > 0 {
                filled += read
            } else if errno != EINTR {
                failures += 1
                guard failures < Self.attempts, patience > 0 else { return nil }
                patience -= 1
                usleep(20_000)
            }
        }
        return filled > 0 ? bytes : nil
    }
}

/// The valid frames of a journal, by commits.
private struct JournalFrames {
    struct Commit {
        /// The pages of the database after it.
        let pages: Int
        let places: [Int: off_t]
    }

    private static let headerSize = 32
    private static let frameHeaderSize = 24

    private let journal: ReadableFile
    private let pageSize: Int
    private var isBigEndian = false
    private var salts: ArraySlice<UInt8> = []
    private var sums: (UInt32, UInt32) = (0, 0)
    private var place = off_t(headerSize)

    init(_ journal: ReadableFile, pageSize: Int) {
        self.journal = journal
        self.pageSize = pageSize
        guard let header = journal.read(count: Self.headerSize, at: 0) else { return }
        let magic = header.integer(at: 0)
        guard magic & ~1 == 0x377f_0682, header.integer(at: 8) == UInt32(pageSize) else { return }
        isBigEndian = magic & 1 == 1
        add(header[..<24])
        guard sums == (header.integer(at: 24), header.integer(at: 28)) else { return }
        salts = header[16..<24]
    }

    mutating func nextCommit() -> Commit? {
        var places: [Int: off_t] = [:]
        while !salts.isEmpty, let frame = journal.read(count: Self.frameHeaderSize + pageSize, at: place) {
            let number = frame.integer(at: 0)
            guard frame[8..<16].elementsEqual(salts), number > 0 else { break }
            add(frame[..<8])
            add(frame[Self.frameHeaderSize...])
            guard sums == (frame.integer(at: 16), frame.integer(at: 20)) else { break }
            places[Int(number)] = place + off_t(Self.frameHeaderSize)
            place += off_t(frame.count)
            let pages = frame.integer(at: 4)
            if pages > 0 { return Commit(pages: Int(pages), places: places) }
        }
        return nil
    }

    private mutating func add(_ bytes: ArraySlice<UInt8>) {
        for start in stride(from: bytes.startIndex, to: bytes.endIndex - 7, by: 8) {
            sums.0 = sums.0 &+ word(bytes, at: start) &+ sums.1
            sums.1 = sums.1 &+ word(bytes, at: start + 4) &+ sums.0
        }
    }

    private func word(_ bytes: ArraySlice<UInt8>, at start: Int) -> UInt32 {
        let word =
            UInt32(bytes[start]) << 24 | UInt32(bytes[start + 1]) << 16 | UInt32(bytes[start + 2]) << 8
            | UInt32(bytes[start + 3])
        return isBigEndian ? word : word.byteSwapped
    }
}

extension [UInt8] {
    /// The big-endian integer of four bytes.
    func integer(at place: Int) -> UInt32 {
        self[place..<place + 4].reduce(0) { value, byte in value << 8 | UInt32(byte) }
    }
}
