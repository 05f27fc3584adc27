package import KeychaindModel

/// What is recorded of a sandboxed program, in `state`.
package struct SandboxRecord: Hashable, Sendable {
    package enum State: UInt8, Sendable {
        /// It sees only its own items.
        case limited = 1
        /// It was there before sandboxes were limited, and sees what it saw then.
        case unconfirmed = 2
        /// A person has chosen that it sees everything.
        case open = 3
    }

    /// The most programs that are recorded without a person; more than anybody has.
    package static let limit = 4096

    package var state: State

    /// Its last call; nil before the first.
    package var lastCall: Timestamp?

    package init(_ state: State, lastCall: Timestamp? = nil) {
        self.state = state
        self.lastCall = lastCall
    }
}

/// The records of sandboxes, and the time of the first start that had them.
package struct SandboxRecords: Sendable {
    package var programs: [String: SandboxRecord]

    /// Nil at the first start: the sandboxes that were there before are not recorded yet.
    package var since: Timestamp?
}

extension Vault {
    /// Reads the records; throws if they cannot be read, or could not be written.
    package func sandboxRecords() async throws(VaultError) -> SandboxRecords {
        guard let context else { throw VaultError.vaultClosed }
        return try await context.folderWorker.perform { (folder) throws(VaultError) in try folder.sandboxRecords() }
    }

    /// Records sandboxes, durably; a time marks those from before as recorded.
    package func record(_ programs: [String: SandboxRecord], since: Timestamp? = nil) async throws(VaultError) {
        guard let context else { throw VaultError.vaultClosed }
        try await context.folderWorker.perform { (folder) throws(VaultError) in
            try folder.record(programs, since: since)
        }
    }
}

extension VaultFolder {
    fileprivate func sandboxRecords() throws(VaultError) -> SandboxRecords {
        var records = try openedState().sandboxRecords()
        // The records were lost with a damaged file, so nobody knows which sandboxes were there before.
        if records.since == nil, try folder.exists(StateFile.name + ".unreadable") {
            records.since = Timestamp(seconds: 0)
        }
        return records
    }

    fileprivate func record(_ programs: [String: SandboxRecord], since: Timestamp?) throws(VaultError) {
        try changeState { (state) throws(VaultError) in try state.record(programs, since: since) }
    }
}

extension StateFile {
    private static let prefix = "sandbox/"
    private static let since = "sandboxes-since"
    /// With those that persons have confirmed.
    private static let maximumSandboxes = 2 * SandboxRecord.limit

    fileprivate func sandboxRecords() throws(VaultError) -> SandboxRecords {
        try requireWritable()
        var records = SandboxRecords(programs: [:])
        if let since = value(ofRecord: Self.since) {
            let time = since.withRawBytes { bytes in
                var reader = FieldReader(bytes)
                return reader.integer(Int64.self)
            }
            records.since = Timestamp(microsecondsSinceEpoch: time ?? 0)
        }
        // What a later version has written is limited.
        let programs = self.records(withPrefix: Self.prefix).map { program, value in
            (program, value.withRawBytes { bytes in SandboxRecord(decoding: bytes) } ?? SandboxRecord(.limited))
        }
        // Of too many, those that are limited are left out: they are limited without a record, too.
        let limitedLast = programs.sorted { first, second in
            first.1.state != .limited && second.1.state == .limited
        }
        for (program, record) in limitedLast.prefix(Self.maximumSandboxes) { records.programs[program] = record }
        return records
    }

    fileprivate func record(_ programs: [String: SandboxRecord], since: Timestamp?) throws(VaultError) {
        var values: [String: [UInt8]?] = [:]
        for (program, record) in programs { values[Self.prefix + program] = .some(record.encoded) }
        if let since {
            var bytes: [UInt8] = []
            bytes.append(bigEndian: since.microsecondsSinceEpoch)
            values[Self.since] = .some(bytes)
        }
        try set(values)
    }
}

extension SandboxRecord {
    /// The state (1) and the time of the last call (8), zero for none.
    fileprivate var encoded: [UInt8] {
        var bytes = [state.rawValue]
        bytes.append(bigEndian: lastCall?.microsecondsSinceEpoch ?? 0)
        return bytes
    }

    fileprivate init?(decoding bytes: UnsafeRawBufferPointer) {
        var reader = FieldReader(bytes)
        guard let state = reader.integer(UInt8.self).flatMap(State.init), let time = reader.integer(Int64.self) else {
            return nil
        }
        self.init(state, lastCall: time == 0 ? nil : Timestamp(microsecondsSinceEpoch: time))
    }
}
