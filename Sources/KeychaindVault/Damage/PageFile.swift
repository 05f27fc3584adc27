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
    // Whether the disk has not returned all of the journal and its index.
    private let journalIsUnread: Bool

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
        let index = journalFile == nil ? nil : ReadableFile(path + "-shm")
        let indexIsUnread = journalFile != nil && index == nil && errno != ENOENT && errno != ELOOP
        journal = journalFile.map { file in Journal(file, index: index, pageSize: pageSize) }
        journalIsUnread = indexIsUnread || [journalFile, index].contains { file in file?.hasFailed == true }
        // Sparse files can have the largest size there is.
        let (wholePages, rest) = Int(fileSize).quotientAndRemainder(dividingBy: pageSize)
        let pages = rest == 0 ? wholePages : wholePages + 1
        count = min(max(pages, journal?.pageCount ?? 0), Int(maximumSize) / pageSize)
    }

    /// Whether the journal has damage where acknowledged changes are; SQLite would pass over and overwrite them.
    var journalIsDamaged: Bool {
        guard let journal else { return false }
        if journal.hasValidHeader || journal.isInterrupted { return journal.isInterrupted }
        // A crash may tear the header, but only while all pages are in the file, too.
        return journal.places.merging(journal.doubtful, uniquingKeysWith: { _, new in new }).contains { number, place in
            // What the disk does not return now may not be damaged.
            guard let journaled = journalFile?.read(count: pageSize, at: place) else { return false }
            guard let page = page(number) else { return !file.hasFailed && number <= journal.pageCount }
            return page != journaled
        }
    }

    /// Whether the latest acknowledged changes may be lost in the journal.
    var lacksEnd: Bool { journal?.lacksEnd ?? false }

    /// The bytes of a page, from 1; nil if there is none, or the disk does not return it.
    subscript(number: Int) -> [UInt8]? {
        guard (1...max(1, count)).contains(number) else { return nil }
        // What is before the damage of a journal is older than the file, if that has all of it.
        let isOlder = journal.map { journal in journal.isInterrupted && journal.isInFile } ?? false
        if !isOlder, let place = journal?.places[number] { return journalFile?.read(count: pageSize, at: place) }
        if let page = page(number) { return page }
        return journal?.doubtful[number].flatMap { place in journalFile?.read(count: pageSize, at: place) }
    }

    /// Newer, damaged contents of pages in the journal.
    var doubtfulPages: [(number: Int, bytes: [UInt8])] {
        guard let journal, journal.isInterrupted, !journal.isInFile else { return [] }
        return journal.doubtful.sorted { first, second in first.key < second.key }.compactMap { number, place in
            journalFile?.read(count: pageSize, at: place).map { bytes in (number, bytes) }
        }
    }

    private func page(_ number: Int) -> [UInt8]? {
        file.read(count: pageSize, at: off_t(number - 1) * off_t(pageSize))
    }
}

extension PageFile {
    /// Whether the journal of a file is damaged; otherwise SQLite may open it.
    ///
    /// No connection may be open. Throws disk errors.
    static func journalIsDamaged(of name: String, in folder: Folder) throws(VaultError) -> Bool {
        let journal = name + "-wal"
        // SQLite would write into it.
        guard try folder.isRegular(journal) else {
            throw VaultError(.storageFailed, reason: "its journal is not a regular file")
        }
        guard try folder.size(of: journal) > 0 else { return false }
        let pages = try PageFile(folder.file(name), maximumSize: .max)
        let isDamaged = pages.journalIsDamaged
        guard !pages.journalIsUnread else {
            throw VaultError(.storageFailed, reason: "its journal cannot be read")
        }
        // SQLite notes all that it finds as acknowledged, also a commit that a crash has ended before its sync.
        if !isDamaged { try? folder.synchronize(journal) }
        return isDamaged
    }
}

extension [UInt8] {
    /// The big-endian integer of four bytes.
    func integer(at place: Int) -> UInt32 {
        self[place..<place + 4].reduce(0) { value, byte in value << 8 | UInt32(byte) }
    }
}
