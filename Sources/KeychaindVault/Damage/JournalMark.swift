/// How far the acknowledged changes reach in a journal, as SQLite notes it in the journal's index, the `-shm` file.
///
/// SQLite does so after the sync of each commit, in memory that all processes map and that is never synced: the note
/// outlasts the process, and after a power loss it is there, older than the journal, or gone. For files that it has
/// alone, ``JournalNote`` does.
struct JournalMark {
    /// Both copies of the note, and the number of frames that are in the file.
    static let size = 100
    private static let copies = [0, 48]
    private static let version: UInt32 = 3_007_000

    /// What the frames of this journal have in common, unlike those of others.
    let salts: [UInt8]
    /// The frames that were synced.
    let frames: Int
    /// The pages of the database after the last of them.
    let pageCount: Int
    /// The checksum of the last of them.
    let sums: JournalSums
    /// Whether all of them have been moved into the file, durably.
    let isInFile: Bool

    /// Reads the mark; nil if there is none, or none of a journal with these salts.
    init?(_ file: ReadableFile, salts: ArraySlice<UInt8>?) {
        guard let bytes = file.read(count: Self.size, at: 0) else { return nil }
        let marks = Self.copies.compactMap { place in JournalMark(bytes, at: place) }
        // The second copy is written first, and both after the sync.
        let fitting = marks.filter { mark in mark.frames > 0 && salts.map(mark.salts.elementsEqual) ?? true }
        guard let last = fitting.max(by: { first, second in first.frames < second.frames }) else { return nil }
        self = last
    }

    /// Nil unless the copy is whole.
    private init?(_ bytes: [UInt8], at place: Int) {
        func number(_ offset: Int) -> UInt32 { bytes.hostInteger(at: place + offset) }
        let isInitialised = bytes[place + 12] == 1
        let stored = JournalSums(number(40), number(44))
        let isBigEndianHost = UInt32(1).bigEndian == 1
        guard number(0) == Self.version, isInitialised,
            JournalSums().adding(bytes[place..<place + 40], isBigEndianHost) == stored
        else { return nil }
        frames = Int(number(16))
        pageCount = Int(number(20))
        sums = JournalSums(number(24), number(28))
        salts = Array(bytes[place + 32..<place + 40])
        isInFile = Int(bytes.hostInteger(at: Self.placeOfFramesInFile)) >= frames
    }
}

extension JournalMark {
    /// The mark of a journal with this header, up to this frame; nil if they do not belong together.
    init?(header: [UInt8], lastFrame: [UInt8], frames: Int) {
        guard header.count == 32, lastFrame.count == 24, header[16..<24] == lastFrame[8..<16] else { return nil }
        salts = Array(header[16..<24])
        self.frames = frames
        pageCount = Int(lastFrame.integer(at: 4))
        sums = JournalSums(lastFrame, at: 16)
        isInFile = false
    }

    /// Both copies, and no frames in the file.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.size)
        for place in Self.copies {
            bytes.append(host: Self.version)
            bytes.append(host: 0)
            bytes.append(host: 0)
            // It is initialised.
            bytes.append(host: UInt32(littleEndian: 1))
            bytes.append(host: UInt32(clamping: frames))
            bytes.append(host: UInt32(clamping: pageCount))
            sums.append(to: &bytes)
            bytes.append(contentsOf: salts)
            JournalSums().adding(bytes[place...], UInt32(1).bigEndian == 1).append(to: &bytes)
        }
        bytes.append(host: 0)
        return bytes
    }

    /// The place of the number of frames that are in the file.
    static let placeOfFramesInFile = 96
}

/// The checksum of a journal's header and frames up to a place.
struct JournalSums: Equatable {
    private var first: UInt32 = 0
    private var second: UInt32 = 0

    init() {}

    init(_ first: UInt32, _ second: UInt32) {
        (self.first, self.second) = (first, second)
    }

    /// Appends the checksum in the order of the processor.
    func append(to bytes: inout [UInt8]) {
        bytes.append(host: first)
        bytes.append(host: second)
    }

    /// Reads a stored checksum.
    init(_ bytes: [UInt8], at place: Int) {
        first = bytes.integer(at: place)
        second = bytes.integer(at: place + 4)
    }

    func adding(_ bytes: ArraySlice<UInt8>, _ isBigEndian: Bool) -> JournalSums {
        var sums = self
        bytes.withUnsafeBytes { bytes in
            for place in stride(from: 0, to: bytes.count - 7, by: 8) {
                let words = bytes.loadUnaligned(fromByteOffset: place, as: (UInt32, UInt32).self)
                let (one, two) =
                    isBigEndian
                    ? (UInt32(bigEndian: words.0), UInt32(bigEndian: words.1))
                    : (UInt32(littleEndian: words.0), UInt32(littleEndian: words.1))
                sums.first = sums.first &+ one &+ sums.second
                sums.second = sums.second &+ two &+ sums.first
            }
        }
        return sums
    }
}

extension [UInt8] {
    fileprivate mutating func append(host integer: UInt32) {
        Swift.withUnsafeBytes(of: integer) { bytes in append(contentsOf: bytes) }
    }

    /// The integer of four bytes in the order of the processor.
    fileprivate func hostInteger(at place: Int) -> UInt32 {
        withUnsafeBytes { bytes in bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self) }
    }
}
