import Glibc

/// The pages in the journal of a database, read without SQLite.
///
/// The checksum of a frame continues that of the frame before. SQLite ends at the first one that does not, since a
/// crash or a failed commit may leave frames of a commit that was never acknowledged. So what SQLite stopped at is
/// damaged if the ``JournalMark`` says that it was acknowledged. Without a mark as new as the journal: each commit is
/// synced before the next, so where frames that continue each other have two, the first was acknowledged.
struct Journal {
    private static let headerSize = 32
    private static let frameHeaderSize = 24
    /// The most frames that do not continue others, such as the zeros of a reserved journal or those of an older one.
    private static let maximumBreaks = 4096
    /// More pages than a file of ours has.
    private static let maximumPage: UInt32 = 1 << 20

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

    /// Whether a frame is damaged that was acknowledged, or has acknowledged ones behind it.
    private(set) var isInterrupted = false

    /// The places of newer contents of pages, which were acknowledged and are damaged or follow damage.
    private(set) var doubtful: [Int: off_t] = [:]

    /// Whether SQLite accepts the header; without it, SQLite ignores all frames.
    let hasValidHeader: Bool

    private let isBigEndian: Bool
    private let mark: JournalMark?
    // The frames up to the last commit that SQLite accepts.
    private var acceptedFrames = 0
    // The whole commits behind the last damaged frame.
    private var laterCommits = 0
    private var hasLostFrames = false

    /// Whether the file has all acknowledged changes without the journal.
    var isInFile: Bool { mark?.isInFile == true }

    /// Whether the latest acknowledged changes may be lost, together with the evidence.
    var lacksEnd: Bool { isInterrupted && !isInFile && mark != nil && laterCommits < 2 }

    /// - Parameter index: the `-shm` file, if it is there.
    init(_ file: ReadableFile, index: ReadableFile?, pageSize: Int) {
        let header = file.read(count: Self.headerSize, at: 0) ?? []
        guard header.count == Self.headerSize else {
            (hasValidHeader, isBigEndian, mark) = (false, false, nil)
            return
        }
        let magic = header.integer(at: 0)
        let isMagic = magic & ~1 == 0x377f_0682
        isBigEndian = isMagic && magic & 1 == 1
        let sums = JournalSums(header, at: 24)
        let isValid =
            isMagic && header.integer(at: 8) == UInt32(pageSize)
            && JournalSums().adding(header[..<24], isBigEndian) == sums
        hasValidHeader = isValid
        let salts = isValid ? header[16..<24] : nil
        let frameSize = off_t(Self.frameHeaderSize + pageSize)
        let mark = index.flatMap { index in JournalMark(index, salts: salts) }.flatMap { mark in
            isValid || Self.hasFrames(of: mark, in: file, size: frameSize) ? mark : nil
        }
        self.mark = mark
        readFrames(of: file, pageSize: pageSize, salts: salts ?? mark?.salts[...], after: sums)
        guard let mark else { return }
        // A header that a crash has torn has all frames of the old journal behind it.
        if hasValidHeader ? acceptedFrames < mark.frames : hasLostFrames && !mark.isInFile { isInterrupted = true }
        if isInterrupted { pageCount = max(pageCount, mark.pageCount) }
    }

    /// Whether a journal without a valid header is the one of the mark.
    private static func hasFrames(of mark: JournalMark, in file: ReadableFile, size: off_t) -> Bool {
        for number in 0..<min(mark.frames, maximumBreaks) {
            let place = off_t(headerSize) + off_t(number) * size
            guard let frame = file.read(count: frameHeaderSize, at: place) else { return false }
            if frame[8..<16].elementsEqual(mark.salts) { return true }
        }
        return mark.frames == 1 && hasLostHeader(file, size: size)
    }

    /// Whether the first frame has contents without a header, as after damage of the first block.
    private static func hasLostHeader(_ file: ReadableFile, size: off_t) -> Bool {
        guard let frame = file.read(count: Int(size), at: off_t(headerSize)),
            frame.contains(where: { byte in byte != 0 })
        else { return false }
        return !(1...maximumPage).contains(frame.integer(at: 0)) || frame.integer(at: 4) > maximumPage
    }

    /// - Parameter known: what the frames of this journal have in common, unlike older ones; nil if it is unknown.
    private mutating func readFrames(
        of file: ReadableFile,
        pageSize: Int,
        salts known: ArraySlice<UInt8>?,
        after header: JournalSums
    ) {
        var sums = header
        var salts = known
        var chain = Chain(startsWithCommit: false)
        var isAccepted = hasValidHeader
        var breaks = 0
        var number = 0
        var place = off_t(Self.headerSize)
        while breaks < Self.maximumBreaks, let frame = file.read(count: Self.frameHeaderSize + pageSize, at: place) {
            let content = frame[Self.frameHeaderSize...]
            let page = Int(frame.integer(at: 0))
            let pagesAfterCommit = Int(frame.integer(at: 4))
            let stored = JournalSums(frame, at: 16)
            number += 1
            let isAcknowledged = number <= mark?.frames ?? 0
            let belongs = page > 0 && salts.map { common in frame[8..<16].elementsEqual(common) } ?? true
            if belongs, sums.adding(frame[..<8], isBigEndian).adding(content, isBigEndian) == stored {
                salts = salts ?? frame[8..<16]
                chain.add(page, at: place + off_t(Self.frameHeaderSize))
                if isAcknowledged { places[page] = place + off_t(Self.frameHeaderSize) }
                doubtful[page] = nil
                if pagesAfterCommit > 0 {
                    chain.commit(pagesAfterCommit)
                    laterCommits += 1
                    if isAccepted { acceptedFrames = number }
                }
            } else {
                if isAcknowledged {
                    laterCommits = 0
                    if belongs { doubtful[page] = place + off_t(Self.frameHeaderSize) } else { hasLostFrames = true }
                }
                take(chain, isAccepted: isAccepted)
                isAccepted = false
                chain = Chain(startsWithCommit: belongs && pagesAfterCommit > 0)
                breaks += 1
            }
            sums = stored
            place += off_t(frame.count)
        }
        take(chain, isAccepted: isAccepted)
        if number < mark?.frames ?? 0 {
            hasLostFrames = true
            laterCommits = 0
        }
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
