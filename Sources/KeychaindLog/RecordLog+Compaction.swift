/// How a log is written anew.
package struct Rewriting: Sendable {
    /// The first sequence whose state can be read afterwards; nil keeps the present state alone.
    package var horizon: UInt64?

    /// The sequences since the horizon whose states can be read afterwards, besides the present one; nil for all.
    package var states: [UInt64]?

    /// The last sequence to keep, for a copy of a past state; nil keeps all.
    package var last: UInt64?

    /// Changes to store with it; of a record whose change erases the past, nothing older is kept.
    package var changes: [RecordChange] = []

    /// Whether damaged frames are left out; otherwise they are an error.
    package var isSalvage = false

    /// Whether a record is left out, with its past.
    package var isDropped: @Sendable (RecordID, _ sequence: UInt64) -> Bool = { _, _ in false }

    /// Changes the content of each frame that is kept; nil keeps it.
    package var transform: (@Sendable (RecordID, inout RecordContent) throws(LogError) -> Void)?

    package init() {}
}

extension RecordLog {
    /// Writes what is live, or younger than the history to keep, into a new file that takes the place of this one.
    ///
    /// A crash leaves one of the two. After an error the old one is in use, or, if the folder could not be synced, the
    /// new one, and changes are refused until it can. Returns what a salvage has left out.
    ///
    /// - Parameter newKey: the key to seal with; nil for the same.
    @discardableResult
    package func rewrite(
        _ rewriting: Rewriting = Rewriting(),
        _ key: LogKey,
        newKey: LogKey? = nil
    ) throws(LogError) -> [LogDamage] {
        try requireWritable()
        let (new, damages) = try write(rewriting, to: file.path, key, newKey ?? key) { (new) throws(LogError) in
            try file.requireUntouched()
            try new.finish(as: file.path, replacing: true)
        }
        (file, header, contents) = (new.file, new.header, new.contents)
        (report, pendingErasures, folderIsUnsynced) = (LogReport(), [], true)
        try requireWritable()
        return damages
    }

    /// Does the same into another file, and leaves this one as it is; throws `inUse` if the name is taken.
    @discardableResult
    package func copy(
        to path: String,
        _ rewriting: Rewriting = Rewriting(),
        _ key: LogKey
    ) throws(LogError) -> [LogDamage] {
        let (new, damages) = try write(rewriting, to: path, key, key) { (new) throws(LogError) in
            try new.finish(as: path, replacing: false)
        }
        try new.file.synchronizeFolder()
        return damages
    }

    private func write(
        _ rewriting: Rewriting,
        to path: String,
        _ key: LogKey,
        _ newKey: LogKey,
        _ finish: (RecordLog) throws(LogError) -> Void
    ) throws(LogError) -> (RecordLog, [LogDamage]) {
        if report.isDamaged, !rewriting.isSalvage {
            throw LogError(.damaged, "the file is damaged, which only a salvage leaves out")
        }
        let last = rewriting.last.map { last in min(last, sequence) } ?? sequence
        let horizon = min(max(rewriting.horizon ?? last, horizon), last)
        let oldest = horizon == sequence ? state : try state(at: horizon)
        let newHeader = try LogHeader(application: header.application, uuid: uuid, base: last, horizon: horizon)
        let new = try RecordLog(newHeader, for: path, limits, system)
        var damages = report.damages
        do throws(LogError) {
            damages += try copyFrames(since: horizon, upTo: last, oldest, rewriting, to: new, key, newKey)
            try new.write(rewriting.changes, newKey)
            try finish(new)
        } catch {
            new.file.remove()
            throw error
        }
        return (new, damages)
    }

    /// Makes an unfinished file whole and durable, and gives it a name.
    func finish(as path: String, replacing: Bool) throws(LogError) {
        file.restamp()
        try grow(to: contents.end + LogLimits.leastRoom + limits.reserve)
        try file.rename(to: path, replacing: replacing)
    }

    private func copyFrames(
        since horizon: UInt64,
        upTo last: UInt64,
        _ oldest: LogState,
        _ rewriting: Rewriting,
        to new: RecordLog,
        _ key: LogKey,
        _ newKey: LogKey
    ) throws(LogError) -> [LogDamage] {
        var damages: [LogDamage] = []
        let kept = try keptFrames(rewriting, upTo: last)
        let erased = Set(rewriting.changes.lazy.filter(\.erasesPast).map(\.id))
        var reader = FrameReader(file, header, limits)
        var writer = FrameWriter(new, newKey)
        var lastCopied: UInt64 = 0
        while case let step = try reader.next(), !reader.isAtEnd {
            guard case .frame(let frame, let place) = step, place < contents.end, frame.sequence <= last,
                frame.sequence > horizon || oldest.places[frame.id] == place, !erased.contains(frame.id),
                kept?.contain(frame, at: place) ?? true,
                !rewriting.isDropped(frame.id, frame.sequence)
            else { continue }
            let isErased = try reader.bytes(of: frame, at: place).part(frame.bodyRange).isZero
            if isErased, contents.places[frame.id] != place { continue }
            do throws(LogError) {
                let record = try reader.record(frame, at: place, key)
                var content = RecordContent(record)
                try rewriting.transform?(frame.id, &content)
                let flags = frame.flags.intersection(.removesRecord).union(.endsCommit)
                let older = new.contents.places[frame.id]
                let copy = try writer.append(frame.id, flags, content, sequence: frame.sequence, older: older)
                new.contents.apply(copy, at: new.contents.end)
                lastCopied = frame.sequence
            } catch {
                guard error.code == .damaged, rewriting.isSalvage else { throw error }
                damages.append(.frame(frame, at: place))
                // Its header may be forged, and hide frames that have a lower sequence.
                reader.distrust(frame, at: place)
            }
            if writer.bytes.count > 256 << 10 { try new.flush(&writer.bytes) }
        }
        // By its sequence, the last frame shows that all of the file is there.
        if lastCopied < last, rewriting.changes.isEmpty {
            let flags: Frame.Flags = [.removesRecord, .endsCommit]
            let mark = try writer.append(.none, flags, nil, sequence: last, older: nil)
            new.contents.apply(mark, at: new.contents.end)
        }
        try new.flush(&writer.bytes)
        return damages
    }

    /// The frames that the states to keep consist of; nil if all are kept.
    private func keptFrames(_ rewriting: Rewriting, upTo last: UInt64) throws(LogError) -> KeptFrames? {
        guard let sequences = rewriting.states else { return nil }
        var kept = KeptFrames()
        for sequence in sequences + [last] {
            kept.add(sequence == self.sequence ? state : try state(at: sequence))
        }
        return kept
    }

    /// Writes bytes that end where the contents end.
    private func flush(_ bytes: inout [UInt8]) throws(LogError) {
        try file.write(bytes, at: contents.end - bytes.count)
        bytes.removeAll(keepingCapacity: true)
    }
}

/// The frames of some states, and the removals between them.
private struct KeptFrames {
    private var places: Set<Int> = []
    private var ids: Set<RecordID> = []

    mutating func add(_ state: LogState) {
        places.formUnion(state.places.values)
        ids.formUnion(state.places.keys)
    }

    func contain(_ frame: Frame, at place: Int) -> Bool {
        frame.flags.contains(.removesRecord) ? ids.contains(frame.id) : places.contains(place)
    }
}
