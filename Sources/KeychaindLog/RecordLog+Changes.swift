/// The parts of a record.
package struct RecordContent: Equatable, Sendable {
    /// Bytes that need no key to be read, bytes to seal, and bytes that the application has sealed; these end with the
    /// tag of a cipher.
    package var open: [UInt8], metadata: [UInt8], secret: [UInt8]

    package init(open: [UInt8] = [], metadata: [UInt8] = [], secret: [UInt8] = []) {
        (self.open, self.metadata, self.secret) = (open, metadata, secret)
    }
}

extension RecordContent {
    /// A copy of a record that was opened with its key.
    package init(_ record: StoredRecord) {
        let metadata = record.metadata.map(Array.init) ?? []
        self.init(open: Array(record.open), metadata: metadata, secret: Array(record.secret))
    }
}

/// A change of one record.
package struct RecordChange: Sendable {
    package let id: RecordID

    /// Nil to remove the record.
    package let content: RecordContent?

    /// Whether the older contents are overwritten once the change is stored.
    package let erasesPast: Bool

    package init(_ id: RecordID, _ content: RecordContent?, erasesPast: Bool = false) {
        (self.id, self.content, self.erasesPast) = (id, content, erasesPast)
    }
}

extension [RecordChange] {
    /// The usual change of one record, beside that of a state, needs no set.
    fileprivate var haveDifferentIDs: Bool {
        count > 2 ? Set(lazy.map(\.id)).count == count : first?.id != last?.id || count < 2
    }
}

extension RecordLog {
    /// Stores changes durably, all or none.
    ///
    /// After an error nothing is stored, or ``condition`` says that this is unknown. Throws `displaced` if another
    /// program has changed the file, or has put another one in its place meanwhile: that one does not have the changes.
    ///
    /// - Parameter usesReserve: whether the changes may use the reserve on a full disk, as mere removals do.
    package func commit(_ changes: [RecordChange], _ key: LogKey, usesReserve: Bool = false) throws(LogError) {
        try requireWritable()
        guard !changes.isEmpty else { return }
        let (frames, bytes) = try encode(changes, key)
        try file.requireUntouched()
        let isRemoval = changes.allSatisfy { change in change.content == nil }
        let reserve = usesReserve || isRemoval ? 0 : limits.reserve
        let needed = contents.end + bytes.count + LogLimits.leastRoom + reserve
        if file.size < needed { try grow(to: needed) }
        _ = try? writeErasures()
        try store(bytes)
        for frame in frames {
            contents.apply(frame, at: contents.end)
            guard frame.flags.contains(.erasesPast), frame.older != 0 else { continue }
            pendingErasures.append(Erasure(id: frame.id, older: frame.older, isWhole: false))
        }
    }

    private func encode(_ changes: [RecordChange], _ key: LogKey) throws(LogError) -> ([Frame], [UInt8]) {
        guard changes.count <= limits.changes, changes.haveDifferentIDs, sequence < .max - UInt64(changes.count)
        else { throw LogError(.invalidChange, "a commit changes a record at most once") }
        let isNew = { (change: RecordChange) in change.content != nil && self.contents.places[change.id] == nil }
        try contents.requireCount(adding: changes.count(where: isNew), limits)
        var frames: [Frame] = []
        var writer = FrameWriter(self, key)
        for (index, change) in changes.enumerated() {
            var flags: Frame.Flags = change.content == nil ? .removesRecord : []
            if change.erasesPast { flags.insert(.erasesPast) }
            if index == changes.count - 1 { flags.insert(.endsCommit) }
            let (number, older) = (sequence + UInt64(index) + 1, contents.places[change.id])
            let content = change.content
            frames.append(try writer.append(change.id, flags, content, sequence: number, index: index, older: older))
        }
        return (frames, writer.bytes)
    }

    /// Writes changes to an unfinished file.
    func write(_ changes: [RecordChange], _ key: LogKey) throws(LogError) {
        let (frames, bytes) = try encode(changes, key)
        try file.write(bytes, at: contents.end)
        for frame in frames { contents.apply(frame, at: contents.end) }
    }

    /// Throws as ``commit(_:_:usesReserve:)`` would for a change of nothing.
    package func check() throws(LogError) {
        try requireWritable()
        try file.requireUntouched()
    }

    func requireWritable() throws(LogError) {
        switch condition {
        case .writable: break
        case .unknown(let error, let tail):
            do throws(LogError) {
                try file.requireUntouched()
                try eraseTail(tail)
                condition = .writable
            } catch let second {
                throw second.code == .displaced ? second : error
            }
        case .readOnly: throw LogError(.readOnly, "the log is open to read")
        }
        // A rename that is not durable could bring back the file of before, without the changes since.
        if folderIsUnsynced { try file.synchronizeFolder() }
        folderIsUnsynced = false
    }

    /// Gives the file room behind an offset, durably.
    func grow(to needed: Int) throws(LogError) {
        let size = (needed + limits.room + 4095) / 4096 * 4096
        guard size <= limits.fileSize else { throw LogError(.limitExceeded, "the log is too large") }
        try file.grow(to: size)
    }

    private func store(_ bytes: [UInt8]) throws(LogError) {
        let range = contents.end..<contents.end + bytes.count
        var isWritten = false
        do throws(LogError) {
            try file.write(bytes, at: range.lowerBound)
            isWritten = true
            try file.synchronize()
            file.restamp()
            if file.isDisplaced { throw LogFile.displaced }
        } catch {
            // What was refused must not appear after a restart.
            do throws(LogError) {
                let isZero = isWritten ? false : try file.isZero(range)
                if !isZero { try eraseTail(range) }
            } catch let second {
                let reason = "\(error.reason); it is unknown whether the change is stored: \(second.reason)"
                let unknown = LogError(error.code, reason)
                condition = .unknown(unknown, tail: range)
                throw unknown
            }
            throw error
        }
    }

    /// Overwrites bytes behind the last commit with zeros, durably.
    func eraseTail(_ range: Range<Int>) throws(LogError) {
        guard !range.isEmpty else { return }
        defer { file.restamp() }
        try file.writeZeros(range)
        try file.synchronize()
        guard try file.isZero(range) else { throw LogError(.storageFailed, "the disk returns what was overwritten") }
    }
}

/// An order to overwrite the frames of a record, from one on.
struct Erasure {
    let id: RecordID
    let older: Int

    /// Whether earlier erasures of the record may not have been finished.
    let isWhole: Bool
}

extension RecordLog {
    /// Whether contents to be overwritten may still be in the file.
    package var hasUnfinishedErasures: Bool { !pendingErasures.isEmpty }

    /// Overwrites the older contents of records whose changes said so, durably.
    ///
    /// Otherwise the next commit does it, or the next opening of the log. After an error it can be called again.
    package func finishErasing() throws(LogError) {
        guard hasUnfinishedErasures else { return }
        try requireWritable()
        let erasures = pendingErasures
        try file.requireUntouched()
        do throws(LogError) {
            if try writeErasures() { try file.synchronize() }
        } catch {
            pendingErasures = erasures
            throw error
        }
    }

    /// Overwrites without a sync, and returns whether there was something to overwrite.
    private func writeErasures() throws(LogError) -> Bool {
        var hasWritten = false
        defer { if hasWritten { file.restamp() } }
        // In a damaged file, frames may lie in the body of one whose length lies.
        let places = pendingErasures.isEmpty || !report.isDamaged ? [] : contents.places.values.sorted()
        func erase(_ frame: Frame, at place: Int, _ reader: inout FrameReader) throws(LogError) {
            let next = places.first { other in other > place } ?? .max
            let body = Frame.headerSize..<max(Frame.headerSize, min(frame.size, next - place))
            if try reader.bytes(of: frame, at: place).part(body).isZero { return }
            hasWritten = true
            try file.writeZeros(place + body.lowerBound..<place + body.upperBound)
        }
        while let erasure = pendingErasures.last {
            var reader = FrameReader(file, header, limits, bytes: 4096)
            var place = erasure.older
            while place != 0, let frame = try reader.frame(at: place), frame.id == erasure.id, frame.older < place {
                try erase(frame, at: place, &reader)
                // What is before a frame that erases was erased with it.
                place = frame.flags.contains(.erasesPast) && !erasure.isWhole ? 0 : frame.older
            }
            // An unreadable frame hides those before it.
            if place != 0 { reader = FrameReader(file, header, limits) }
            while place != 0, case let step = try reader.next(), !reader.isAtEnd {
                guard case .frame(let frame, let found) = step, frame.id == erasure.id else { continue }
                if found >= place { break }
                try erase(frame, at: found, &reader)
            }
            pendingErasures.removeLast()
        }
        return hasWritten
    }
}
