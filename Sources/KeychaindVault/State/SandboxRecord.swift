package import KeychaindModel

/// What is recorded of a sandboxed program, in `state.db`.
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
    /// Of too many, those that are limited are not read: they are limited without a record, too.
    private static let limitedLast = "substr(value, 1, 1) = x'0\(SandboxRecord.State.limited.rawValue)', name"

    fileprivate func sandboxRecords() throws(VaultError) -> SandboxRecords {
        try requireWritable()
        var records = SandboxRecords(programs: [:])
        if let since = try value(ofRecord: Self.since) {
            let time = since.withRawBytes { bytes in
                var reader = ByteReader(bytes)
                return reader.integer(Int64.self)
            }
            records.since = Timestamp(microsecondsSinceEpoch: time ?? 0)
        }
        try forEachRecord(
            withPrefix: Self.prefix,
            limit: Self.maximumSandboxes,
            orderedBy: Self.limitedLast
        ) { name, record in
            // What a later version has written is limited.
            records.programs[String(name.dropFirst(Self.prefix.count))] =
                SandboxRecord(decoding: record) ?? SandboxRecord(.limited)
        }
        return records
    }

    fileprivate func record(_ programs: [String: SandboxRecord], since: Timestamp?) throws(VaultError) {
        try requireWritable()
        try database.transaction { () throws(VaultError) in
            for (program, record) in programs { try setValue(record.encoded, ofRecord: Self.prefix + program) }
            guard let since else { return }
            var bytes: [UInt8] = []
            bytes.append(bigEndian: since.microsecondsSinceEpoch)
            try setValue(bytes, ofRecord: Self.since)
        }
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
        var reader = ByteReader(bytes)
        guard let state = reader.integer(UInt8.self).flatMap(State.init), let time = reader.integer(Int64.self) else {
            return nil
        }
        self.init(state, lastCall: time == 0 ? nil : Timestamp(microsecondsSinceEpoch: time))
    }
}
