/// The records of a file by the headers of its frames, and where the next frame goes.
struct LogContents {
    /// The places of the latest frames.
    private(set) var places: [RecordID: Int] = [:]

    private(set) var frameCount = 0
    private(set) var end = LogHeader.end

    /// The sequence and the mark of the last frame.
    private(set) var sequence: UInt64, last: Mark

    init(_ header: LogHeader, sequence: UInt64? = nil) {
        (self.sequence, last) = (sequence ?? header.base, header.mark)
    }

    func requireCount(adding new: Int = 0, _ limits: LogLimits) throws(LogError) {
        guard places.count + new <= limits.records else {
            throw LogError(.limitExceeded, "a log can have \(limits.records) records")
        }
    }

    mutating func apply(_ frame: Frame, at place: Int) {
        places[frame.id] = frame.flags.contains(.removesRecord) ? nil : place
        frameCount += 1
        skip(frame, at: place)
    }

    fileprivate mutating func skip(_ frame: Frame, at place: Int) {
        (sequence, end, last) = (max(sequence, frame.sequence), place + frame.size, frame.mark)
    }

    /// Leaves bytes and sequences to what was lost.
    fileprivate mutating func skip(to offset: Int, _ known: UInt64) {
        (end, sequence) = (max(end, offset), max(sequence, known))
    }
}

/// Reads a file from its start to its end, without a key.
struct LogLoader {
    private(set) var contents: LogContents
    private(set) var report = LogReport()

    /// The places before which frames must be erased: those of the latest changes that say so.
    private(set) var erasures: [RecordID: Int] = [:]

    /// The bytes of an interrupted commit, to be zero before the next one is written.
    private(set) var tornTail = 0..<0

    private let limits: LogLimits
    private let lastWanted: UInt64, base: UInt64
    private var expected: Mark
    private var isBehindDamage = false

    // The commit that is being read; the last one of a file may be torn.
    private var commit: [(frame: Frame, place: Int)] = []
    private var commitIsWhole = true

    /// Reads the frames up to a sequence.
    ///
    /// - Parameter known: a sequence that the log has had; its commit is not a torn one.
    init(
        _ file: LogFile,
        _ header: LogHeader,
        upTo lastWanted: UInt64 = .max,
        known: UInt64,
        _ limits: LogLimits
    ) throws(LogError) {
        (self.limits, self.lastWanted, base) = (limits, lastWanted, header.base)
        (contents, expected) = (LogContents(header, sequence: 0), header.mark)
        guard file.size <= limits.fileSize else { throw LogError(.limitExceeded, "the file is too large") }
        var reader = FrameReader(file, header, limits)
        while !reader.isAtEnd {
            switch try reader.next() {
            case .frame(let frame, let place): try add(frame, at: place)
            case .bad(let range):
                report.add(.unreadable, at: range.lowerBound, size: range.count)
                isBehindDamage = true
            case .end(let place): try finish(at: place, known: known, size: file.size, &reader)
            }
        }
    }

    mutating func addDamage(_ kind: LogDamage.Kind, at place: Int, size: Int) {
        report.add(kind, at: place, size: size)
    }

    private mutating func add(_ frame: Frame, at place: Int) throws(LogError) {
        if frame.index == 0 || frame.commit != commit.last?.frame.commit || commit.count == limits.changes {
            // Whatever follows a commit was written after that was stored.
            try settle()
            commitIsWhole = frame.index == 0
        } else if Int(frame.index) != commit.count {
            commitIsWhole = false
        }
        if frame.previous != expected, !isBehindDamage { report.add(.missing, at: place, size: 0) }
        expected = frame.mark
        isBehindDamage = false
        commit.append((frame, place))
    }

    private mutating func settle() throws(LogError) {
        for (frame, place) in commit {
            guard frame.sequence <= lastWanted else {
                contents.skip(frame, at: place)
                continue
            }
            contents.apply(frame, at: place)
            guard frame.flags.contains(.erasesPast), frame.older != 0 else { continue }
            if erasures.count < limits.records { erasures[frame.id] = frame.older }
        }
        commit.removeAll(keepingCapacity: true)
        try contents.requireCount(limits)
    }

    /// Decides about the last commit, and what is behind it.
    private mutating func finish(at end: Int, known: UInt64, size: Int, _ reader: inout FrameReader) throws(LogError) {
        let last = commit.last?.frame
        var isWhole = commitIsWhole && last?.flags.contains(.endsCommit) == true
        for (frame, place) in commit where isWhole { isWhole = try reader.isIntact(frame, at: place) }
        // A crash leaves room behind what was being written, another program's cut does not. What it has cut counts: it
        // would come back when the file grows.
        if let cut = reader.cut { commit.append(cut) }
        let isCut = size - end < LogLimits.leastRoom || reader.cut != nil
        // Compaction has written, and synced, what is up to the base.
        let stored = max(known, base)
        // Where earlier changes are missing, the last commit stays in the file, and a later one would make it count.
        let isMissing = contents.sequence < stored
        if isWhole || isCut || isMissing || last.map({ last in last.sequence <= stored }) == true { try settle() }
        commit = []
        if isCut {
            report.end = .cut
        } else if end > contents.end, contents.sequence >= stored {
            report.end = .torn(bytes: end - contents.end)
            report.removeDamages(from: contents.end)
            tornTail = contents.end..<end
            return
        } else if contents.sequence < stored {
            let isDamaged = end > contents.end || contents.sequence < base
            report.end = isDamaged ? .damaged : .older(than: known)
        }
        // What cannot be read is not overwritten, nor may the next frame complete a header that was cut.
        contents.skip(to: end > contents.end ? end + Frame.headerSize : end, stored)
    }
}
