import KeychaindGcrypt

@testable import KeychaindLog
@testable import KeychaindVault

/// Logs with any bytes; their seeds are sound ones. The metadata of a record say of which record and change they are.
extension FuzzReader {
    static let logs = [
        FuzzReader("log") { bytes in try readLog(bytes.copied) },
        // Whoever can read a log can make its marks, but no seals.
        FuzzReader("log-marks") { bytes in try readLog(withMarks(bytes.copied)) },
    ]

    private static let application: UInt32 = 1
    /// Those of small files, of which any number is written.
    static let logLimits = {
        var limits = LogLimits()
        (limits.fileSize, limits.frameSize, limits.records, limits.changes) = (1 << 20, 1 << 16, 1000, 1000)
        (limits.room, limits.reserve) = (4096, 1024)
        return limits
    }()

    /// Reads a log, and changes, salvages and reads it again.
    private static func readLog(_ bytes: [UInt8]) throws {
        let key = try LogKey(SealingKey(SecureBytes(copying: [UInt8](repeating: 1, count: 32))))
        try bytes.withUnsafeBytes { bytes in
            try withFolder(["log": bytes]) { folder in
                let path = folder.file("log")
                let log = try openLog(path, readOnly: true)
                _ = try records(of: log, log.state, key)
                for sequence in [log.horizon, log.sequence / 2, log.sequence] {
                    if let state = try? log.state(at: sequence) { _ = try records(of: log, state, key) }
                }
                try log.forEach(in: log.state, nil) { _ in }
                let changed = try change(path, key)
                promise(try records(of: path, key) == changed, "what is acknowledged is in the file")
                try salvage(path, key)
                promise(try records(of: path, key) == changed, "a salvage keeps what is intact")
                promise(try openLog(path, readOnly: true).report == LogReport(), "what is salvaged is sound")
            }
        }
    }

    private static func openLog(_ path: String, readOnly: Bool = false) throws -> RecordLog {
        try RecordLog(path, application: application, readOnly: readOnly, limits: logLimits)
    }

    /// The sequences of the records of a state.
    private static func records(of log: RecordLog, _ state: LogState, _ key: LogKey) throws -> [RecordID: UInt64] {
        var sequences: [RecordID: UInt64] = [:]
        try log.forEach(in: state, key) { record in
            let isGenuine = record.metadata?.elementsEqual("\(record.id) \(record.sequence)".utf8) == true
            promise(isGenuine, "damage invents no record")
            sequences[record.id] = record.sequence
        }
        return sequences
    }

    private static func records(of path: String, _ key: LogKey) throws -> [RecordID: UInt64] {
        let log = try openLog(path, readOnly: true)
        return try records(of: log, log.state, key)
    }

    /// Commits a change, and returns the records.
    private static func change(_ path: String, _ key: LogKey) throws -> [RecordID: UInt64] {
        let log = try openLog(path)
        let before = try records(of: log, log.state, key)
        guard let id = RecordID(kind: 9, number: 1), log.sequence < .max else { throw Refusal() }
        let sequence = log.sequence + 1
        try log.commit([RecordChange(id, RecordContent(metadata: Array("\(id) \(sequence)".utf8)))], key)
        let after = try records(of: log, log.state, key)
        promise(after == before.merging([id: sequence]) { $1 }, "a change is of its record alone")
        return after
    }

    private static func salvage(_ path: String, _ key: LogKey) throws {
        var rewriting = Rewriting()
        rewriting.isSalvage = true
        try openLog(path).rewrite(rewriting, key)
    }

    /// The bytes with the marks that their file header and the frames behind it should have.
    static func withMarks(_ bytes: [UInt8]) throws -> [UInt8] {
        guard bytes.count > LogHeader.end else { throw Refusal() }
        var bytes = bytes
        func setMark(_ mark: Mark, at place: Int) { bytes.replaceSubrange(place..<place + Mark.size, with: mark.bytes) }
        let file = try bytes[..<64].withUnsafeBytes { header in try Mark(of: header) }
        for copy in [0, LogHeader.copyOffset] {
            setMark(try bytes[copy..<copy + 64].withUnsafeBytes { header in try Mark(of: header) }, at: copy + 64)
        }
        var place = LogHeader.end
        while place + Frame.headerSize <= bytes.count {
            let size = bytes.withUnsafeBytes { bytes in
                let sizes = [12, 16, 20].map { field in Int(bytes.integer(at: place + field) as UInt32) }
                return bytes.integer(at: place) == Frame.magic ? sizes.reduce(Frame.headerSize, +) : .max
            }
            guard size <= bytes.count - place else { break }
            let body = try bytes[place + Frame.headerSize..<place + size].withUnsafeBytes { body in try Mark(of: body) }
            setMark(body, at: place + 64)
            let header = try bytes[place..<place + 80].withUnsafeBytes { header in
                try Frame.mark(of: header, file: file)
            }
            setMark(header, at: place + 80)
            place += size
        }
        return bytes
    }
}
