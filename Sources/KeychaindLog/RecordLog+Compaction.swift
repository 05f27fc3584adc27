/// How a log is written anew.
package struct Rewriting: Sendable {
    /// The first sequence whose state can be read afterwards; nil keeps the present state alone.
    package var horizon: UInt64?

    /// Changes to store with it; of a record whose change erases the past, nothing older is kept.
    package var changes: [RecordChange] = []

    /// Whether damaged frames are left out; otherwise they are an error.
    package var isSalvage = false

    /// Whether a record is left out, with its past.
    package var isDropped: @Sendable (RecordID, _ sequence: UInt64) -> Bool = { _, _ in false }

    /// Seals the secret of a record anew; nil keeps it.
    package var reseal: (@Sendable (RecordID, UnsafeRawBufferPointer) throws(LogError) -> [UInt8])?

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
        if let damage = report.damages.first, !rewriting.isSalvage {
            throw LogError(.damaged, "the file is damaged at \(damage.offset), which only a salvage leaves out")
        }
        let horizon = min(max(rewriting.horizon ?? sequence, horizon), sequence)
        let oldest = horizon == sequence ? state : try state(at: horizon)
        let newHeader = try LogHeader(application: header.application, uuid: uuid, base: sequence, horizon: horizon)
        let new = try RecordLog(newHeader, for: file.path, limits, system)
        var damages = report.damages
        do throws(LogError) {
            damages += try copyFrames(since: horizon, oldest, rewriting, to: new, key, newKey ?? key)
            try new.write(rewriting.changes, newKey ?? key)
            try file.requireUntouched()
            try new.finish(as: file.path, replacing: true)
        } catch {
            new.file.remove()
            throw error
        }
        (file, header, contents) = (new.file, new.header, new.contents)
        (report, pendingErasures, folderIsUnsynced) = (LogReport(), [], true)
        try requireWritable()
        return damages
    }

    /// Makes an unfinished file whole and durable, and gives it a name.
    func finish(as path: String, replacing: Bool) throws(LogError) {
        file.restamp()
        try grow(to: contents.end + LogLimits.leastRoom + limits.reserve)
        try file.rename(to: path, replacing: replacing)
    }

    private func copyFrames(
        since horizon: UInt64,
        _ oldest: LogState,
        _ rewriting: Rewriting,
        to new: RecordLog,
        _ key: LogKey,
        _ newKey: LogKey
    ) throws(LogError) -> [LogDamage] {
        var damages: [LogDamage] = []
        let erased = Set(rewriting.changes.lazy.filter(\.erasesPast).map(\.id))
        var reader = FrameReader(file, header, limits)
        var writer = FrameWriter(new, newKey)
        while case let step = try reader.next(), !reader.isAtEnd {
            guard case .frame(let frame, let place) = step, place < contents.end,
                frame.sequence > horizon || oldest.places[frame.id] == place, !erased.contains(frame.id),
                !rewriting.isDropped(frame.id, frame.sequence)
            else { continue }
            let isErased = try reader.bytes(of: frame, at: place).part(frame.bodyRange).isZero
            if isErased, contents.places[frame.id] != place { continue }
            do throws(LogError) {
                let record = try reader.record(frame, at: place, key)
                let content = RecordContent(
                    open: Array(record.open),
                    metadata: record.metadata.map(Array.init) ?? [],
                    secret: try rewriting.reseal?(frame.id, record.secret) ?? Array(record.secret)
                )
                let flags = frame.flags.intersection(.removesRecord).union(.endsCommit)
                let older = new.contents.places[frame.id]
                let copy = try writer.append(frame.id, flags, content, sequence: frame.sequence, older: older)
                new.contents.apply(copy, at: new.contents.end)
            } catch {
                guard error.code == .damaged, rewriting.isSalvage else { throw error }
                damages.append(.frame(frame, at: place))
            }
            if writer.bytes.count > 256 << 10 { try new.flush(&writer.bytes) }
        }
        try new.flush(&writer.bytes)
        return damages
    }

    /// Writes bytes that end where the contents end.
    private func flush(_ bytes: inout [UInt8]) throws(LogError) {
        try file.write(bytes, at: contents.end - bytes.count)
        bytes.removeAll(keepingCapacity: true)
    }
}
