import Glibc

/// Writes the ``JournalMark`` of a database with a single connection.
///
/// SQLite writes one only into the index of a journal that several connections use; that of a single one is in memory.
/// Like SQLite's, the mark is never synced. After a failure an older one stays, which only says less.
struct JournalNote {
    private let journal: String
    private let index: String

    /// - Parameter path: the database.
    init(_ path: String) {
        journal = path + "-wal"
        index = path + "-shm"
    }

    /// Makes room for the mark, so that a change on a full disk needs none; keeps a present mark.
    func prepare() {
        let descriptor = open(index, O_RDWR | O_CREAT | Self.flags, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard !Self.hasRoom(descriptor) else { return }
        let none = [UInt8](repeating: 0, count: JournalMark.size)
        _ = pwrite(descriptor, none, none.count, 0)
    }

    /// Notes that the journal is synced up to a frame, the last one of a commit.
    func write(frames: Int) {
        guard let mark = mark(frames: frames) else { return }
        write(mark.encoded, at: 0)
    }

    /// Notes that frames have been moved into the file.
    func write(framesInFile frames: Int) {
        var bytes: [UInt8] = []
        withUnsafeBytes(of: UInt32(clamping: frames)) { count in bytes.append(contentsOf: count) }
        write(bytes, at: JournalMark.placeOfFramesInFile)
    }

    /// Notes that the journal was emptied.
    func clear() {
        write([UInt8](repeating: 0, count: JournalMark.size), at: 0)
    }

    /// Removes the file of the mark, once the journal is no longer needed.
    func remove() {
        unlink(index)
    }

    private func mark(frames: Int) -> JournalMark? {
        let descriptor = open(journal, O_RDONLY | Self.flags)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        func read(_ count: Int, at place: Int) -> [UInt8]? {
            var bytes = [UInt8](repeating: 0, count: count)
            return pread(descriptor, &bytes, count, off_t(place)) == count ? bytes : nil
        }
        guard let header = read(32, at: 0) else { return nil }
        let frameSize = 24 + Int(header.integer(at: 8))
        guard let frame = read(24, at: 32 + (frames - 1) * frameSize) else { return nil }
        return JournalMark(header: header, lastFrame: frame, frames: frames)
    }

    private func write(_ bytes: [UInt8], at place: Int) {
        let descriptor = open(index, O_RDWR | Self.flags)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        // The disk was full when the file was opened; its last page is for changes.
        guard Self.hasRoom(descriptor) else { return }
        _ = pwrite(descriptor, bytes, bytes.count, off_t(place))
    }

    private static func hasRoom(_ descriptor: CInt) -> Bool {
        var byte: UInt8 = 0
        return pread(descriptor, &byte, 1, off_t(JournalMark.size - 1)) == 1
    }

    // A named pipe would wait for somebody at its other end.
    private static let flags = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK
}
