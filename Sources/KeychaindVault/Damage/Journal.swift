import Glibc

/// The pages in the journal of a database, read without SQLite.
///
/// The checksum of a frame continues that of the frame before. SQLite ends at the first one that does not, since a
/// crash or a failed commit may leave frames of a commit that was never acknowledged. Each commit is synced before the
/// next, so where frames that continue each other have two, the first was acknowledged: what SQLite stopped at is
/// damaged.
struct Journal {
    private static let headerSize = 32
    private static let frameHeaderSize = 24
    /// The most frames that do not continue others, such as the zeros of a reserved journal or those of an older one.
    private static let maximumBreaks = 4096

    /// Frames that continue each other; the contents of the first one are not verified.
    private struct Chain {
        private(set) var commits: Int
        private(set) var pageCount = 0
        private(set) var places: [Int: off_t] = [:]
        // Since the last commit.
        private var uncommitted: [Int: off_t] = [:]

        init(startsWithCommit: Bool) {
            commits = startsWithCommit ? 1 : 0
        }

        mutating func add(_ page: Int, at place: off_t) {
            uncommitted[page] = place
        }

        mutating func commit(_ pages: Int) {
            commits += 1
            pageCount = pages
            places.merge(uncommitted) { _, new in new }
            uncommitted = [:]
        }
    }

    /// The places in the file of the pages that were committed.
    private(set) var places: [Int: off_t] = [:]

    /// The pages of the database after the last commit; 0 if there was none.
    private(set) var pageCount = 0

    /// Whether acknowledged commits lie behind a damaged frame.
    private(set) var isInterrupted = false

    /// Whether SQLite accepts the header; without it, SQLite ignores all frames.
    let hasValidHeader: Bool

    private let isBigEndian: Bool

    init(_ file: ReadableFile, pageSize: Int) {
        let header = file.read(count: Self.headerSize, at: 0) ?? []
        guard header.count == Self.headerSize else {
            (hasValidHeader, isBigEndian) = (false, false)
            return
        }
        let magic = header.integer(at: 0)
        let isMagic = magic & ~1 == 0x377f_0682
        isBigEndian = isMagic && magic & 1 == 1
        let sums = Sums(header, at: 24)
        let isValid =
            isMagic && header.integer(at: 8) == UInt32(pageSize)
            && Sums().adding(header[..<24], isBigEndian) == sums
        hasValidHeader = isValid
        readFrames(of: file, pageSize: pageSize, salts: isValid ? header[16..<24] : nil, after: sums)
    }

    /// - Parameter known: what the frames of this journal have in common, unlike older ones; nil if it is unknown.
    private mutating func readFrames(
        of file: ReadableFile,
        pageSize: Int,
        salts known: ArraySlice<UInt8>?,
        after header: Sums
    ) {
        var sums = header
        var salts = known
        var chain = Chain(startsWithCommit: false)
        var isAccepted = hasValidHeader
        var breaks = 0
        var place = off_t(Self.headerSize)
        while breaks < Self.maximumBreaks, let frame = file.read(count: Self.frameHeaderSize + pageSize, at: place) {
            let content = frame[Self.frameHeaderSize...]
            let page = Int(frame.integer(at: 0))
            let pagesAfterCommit = Int(frame.integer(at: 4))
            let stored = Sums(frame, at: 16)
            let belongs = page > 0 && salts.map { common in frame[8..<16].elementsEqual(common) } ?? true
            if belongs, sums.adding(frame[..<8], isBigEndian).adding(content, isBigEndian) == stored {
                salts = salts ?? frame[8..<16]
                chain.add(page, at: place + off_t(Self.frameHeaderSize))
                if pagesAfterCommit > 0 { chain.commit(pagesAfterCommit) }
            } else {
                take(chain, isAccepted: isAccepted)
                isAccepted = false
                chain = Chain(startsWithCommit: belongs && pagesAfterCommit > 0)
                breaks += 1
            }
            sums = stored
            place += off_t(frame.count)
        }
        take(chain, isAccepted: isAccepted)
    }

    /// - Parameter isAccepted: whether SQLite accepts the frames.
    private mutating func take(_ chain: Chain, isAccepted: Bool) {
        guard chain.pageCount > 0 else { return }
        if hasValidHeader, !isAccepted {
            guard chain.commits > 1 else { return }
            isInterrupted = true
        }
        places.merge(chain.places) { _, new in new }
        pageCount = chain.pageCount
    }
}

/// The checksum of a journal's header and frames up to a place.
private struct Sums: Equatable {
    private var first: UInt32 = 0
    private var second: UInt32 = 0

    init() {}

    /// Reads a stored checksum.
    init(_ bytes: [UInt8], at place: Int) {
        first = bytes.integer(at: place)
        second = bytes.integer(at: place + 4)
    }

    func adding(_ bytes: ArraySlice<UInt8>, _ isBigEndian: Bool) -> Sums {
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
