/// A record as it is stored; its bytes are valid until the closure that got it returns.
package struct StoredRecord {
    package let id: RecordID

    /// The sequence of the change that stored it.
    package let sequence: UInt64

    /// Its parts as in ``RecordContent``; the metadata are nil without the key.
    package let open: UnsafeRawBufferPointer, metadata: UnsafeRawBufferPointer?, secret: UnsafeRawBufferPointer
}

/// The records of a log at one time.
package struct LogState: Sendable {
    let places: [RecordID: Int], file: Mark

    package var ids: some Sequence<RecordID> { places.keys }
}

extension RecordLog {
    /// The present records.
    package var state: LogState { LogState(places: contents.places, file: header.mark) }

    /// The records as the change with a sequence has left them; those that were erased since are damaged.
    package func state(at sequence: UInt64) throws(LogError) -> LogState {
        guard sequence >= horizon else { throw LogError(.noHistory, "the log does not reach back so far") }
        let loader = try LogLoader(file, header, upTo: sequence, known: self.sequence, limits)
        return LogState(places: loader.contents.places, file: header.mark)
    }

    /// The open parts of a record's present and past frames, the latest first, as far back as the log goes.
    ///
    /// Nothing is compared with marks. Throws `damaged` if the disk does not return the present frame any more.
    ///
    /// - Parameter body: returns whether to go on.
    package func forEachPast(
        of id: RecordID,
        _ body: (_ sequence: UInt64, _ open: UnsafeRawBufferPointer) -> Bool
    ) throws(LogError) {
        var reader = FrameReader(file, header, limits, bytes: 4096)
        var place = contents.places[id] ?? 0
        if place != 0, try reader.frame(at: place) == nil { throw Self.lostFrame }
        while place != 0, let frame = try reader.frame(at: place), frame.id == id, frame.older < place {
            let open = try reader.bytes(of: frame, at: place).part(frame.openRange)
            guard body(frame.sequence, open) else { return }
            place = frame.older
        }
    }

    /// Passes each record of the present state to a closure without a key: its open part, and the size of its secret.
    ///
    /// The headers alone were compared with their marks, so an open part may be damaged. Throws `damaged` if the disk
    /// does not return a frame any more.
    package func forEachOpen(
        _ body: (_ id: RecordID, _ open: UnsafeRawBufferPointer, _ secretSize: Int) -> Void
    ) throws(LogError) {
        var reader = FrameReader(file, header, limits)
        for (id, place) in contents.places.sorted(by: { first, second in first.value < second.value }) {
            guard let frame = try reader.frame(at: place, trusted: true), frame.id == id else { throw Self.lostFrame }
            body(id, try reader.bytes(of: frame, at: place).part(frame.openRange), frame.secretRange.count)
        }
    }

    private static let lostFrame = LogError(.damaged, "the disk does not return a frame any more")

    package func contains(_ id: RecordID) -> Bool { contents.places[id] != nil }

    /// Passes each record of a state to a closure, which must not change the log; returns those that are damaged.
    ///
    /// - Parameters:
    ///   - key: authenticates all but the secrets, which the application authenticates when it opens them.
    ///   - checksSecrets: finds damaged ones now. Without a key they are found anyway.
    @discardableResult
    package func forEach(
        in state: LogState,
        _ key: LogKey?,
        checksSecrets: Bool = true,
        _ body: (StoredRecord) throws(LogError) -> Void
    ) throws(LogError) -> [LogDamage] {
        try requirePresent(state)
        var damages: [LogDamage] = []
        var reader = FrameReader(file, header, limits)
        let trusted = key != nil && !checksSecrets
        for (id, place) in state.places.sorted(by: { first, second in first.value < second.value }) {
            guard let frame = try reader.frame(at: place, trusted: trusted), frame.id == id else {
                damages.append(LogDamage(kind: .unreadable, offset: place, size: 0))
                continue
            }
            do throws(LogError) {
                try body(try reader.record(frame, at: place, key, trusted: trusted))
            } catch {
                guard error.code == .damaged else { throw error }
                damages.append(.frame(frame, at: place))
            }
        }
        return damages
    }

    /// Passes one record to a closure; throws `noSuchRecord` and `damaged`.
    package func read<Result>(
        _ id: RecordID,
        in state: LogState? = nil,
        _ key: LogKey?,
        _ body: (StoredRecord) throws(LogError) -> Result
    ) throws(LogError) -> Result {
        if let state { try requirePresent(state) }
        guard let place = state == nil ? contents.places[id] : state?.places[id] else {
            throw LogError(.noSuchRecord, "there is no record \(id)")
        }
        var reader = FrameReader(file, header, limits, bytes: 4096)
        guard let frame = try reader.frame(at: place), frame.id == id else {
            throw LogError(.damaged, "the frame of record \(id) is damaged")
        }
        return try body(try reader.record(frame, at: place, key))
    }

    private func requirePresent(_ state: LogState) throws(LogError) {
        guard state.file == header.mark else { throw LogError(.noHistory, "the log was compacted meanwhile") }
    }
}
