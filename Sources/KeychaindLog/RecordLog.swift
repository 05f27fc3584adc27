import Glibc

/// A file, and how far it reaches.
package struct LogPosition: Equatable, Sendable {
    let file: Mark, last: Mark
    package let sequence: UInt64
}

/// A file of sealed records, to which changes are only appended; docs/log-format.md describes it.
///
/// A commit is one write and one sync. All methods block; one thread at a time may call them.
package final class RecordLog {
    package enum Condition: Sendable {
        case writable
        case readOnly

        /// It is unknown whether the last change is stored; its bytes are overwritten before the next one.
        case unknown(LogError, tail: Range<Int>)
    }

    let system: LogSystem, limits: LogLimits
    var file: LogFile, header: LogHeader, contents: LogContents
    var pendingErasures: [Erasure] = []
    var folderIsUnsynced = false

    package internal(set) var condition = Condition.writable

    /// What opening the log has found.
    package internal(set) var report = LogReport()

    package var uuid: [UInt8] { header.uuid }
    package var count: Int { contents.places.count }

    /// The sequence of the last change; each change has the next one.
    package var sequence: UInt64 { contents.sequence }

    /// The first sequence whose state can be read.
    package var horizon: UInt64 { header.horizon }

    /// The file and its last frame; no other file has the same.
    package var position: LogPosition { LogPosition(file: header.mark, last: contents.last, sequence: sequence) }

    /// The number of frames, of which all but ``count`` are of the past, or of removed records.
    package var frameCount: Int { contents.frameCount }

    /// The size of the file in bytes, including the room.
    package var fileSize: Int { file.size }

    /// Makes an empty file, whose name is that of an unfinished one.
    init(_ header: LogHeader, for path: String, _ limits: LogLimits, _ system: LogSystem) throws(LogError) {
        (self.system, self.limits, self.header, contents) = (system, limits, header, LogContents(header))
        guard system.remove(path + "-new") == 0 || errno == ENOENT else {
            throw LogError(errno: errno, "remove an unfinished file")
        }
        file = try LogFile(path + "-new", flags: O_RDWR | O_CREAT | O_EXCL, isExclusive: true, system)
        for offset in [0, LogHeader.copyOffset] { try file.write(header.bytes, at: offset) }
    }

    /// Makes a log with these records, durably or not at all; throws `inUse` if the name is taken.
    package static func create(
        _ path: String,
        application: UInt32,
        uuid: [UInt8],
        _ records: [RecordChange],
        _ key: LogKey,
        limits: LogLimits = LogLimits(),
        system: LogSystem = LogSystem()
    ) throws(LogError) -> RecordLog {
        let header = try LogHeader(application: application, uuid: uuid, base: 0, horizon: 0)
        let log = try RecordLog(header, for: path, limits, system)
        do throws(LogError) {
            try log.write(records, key)
            try log.finish(as: path, replacing: false)
            try log.file.synchronizeFolder()
        } catch {
            log.file.remove()
            throw error
        }
        return log
    }

    /// Opens a log, and overwrites with zeros what a crash has left of an interrupted commit.
    ///
    /// What is damaged is in ``report``, and stays as it is.
    ///
    /// - Parameter known: a sequence that the log has had.
    package init(
        _ path: String,
        application: UInt32,
        uuid: [UInt8]? = nil,
        known: UInt64 = 0,
        readOnly: Bool = false,
        limits: LogLimits = LogLimits(),
        system: LogSystem = LogSystem()
    ) throws(LogError) {
        (self.system, self.limits) = (system, limits)
        file = try LogFile(path, flags: readOnly ? O_RDONLY : O_RDWR, isExclusive: !readOnly, system)
        var found = try Self.load(file, known: known, limits)
        // A disk that once returns something else, such as zeros, must not cost what it has.
        let room = min(found.loader.contents.end, file.size)..<file.size
        let isDoubtful = try found.loader.report == LogReport() ? !file.isZero(room) : true
        if isDoubtful { found = try Self.load(file, known: known, limits) }
        (header, contents, report) = (found.header, found.loader.contents, found.loader.report)
        guard header.application == application, uuid == nil || header.uuid == uuid else {
            throw LogError(.foreign, "the file is another one than expected")
        }
        if readOnly { condition = .readOnly }
        guard !readOnly else { return }
        pendingErasures = found.loader.erasures.map { id, older in Erasure(id: id, older: older, isWhole: true) }
        do throws(LogError) { try eraseTail(found.loader.tornTail) } catch {
            condition = .unknown(error, tail: found.loader.tornTail)
        }
        try? finishErasing()
    }

    private static func load(
        _ file: LogFile,
        known: UInt64,
        _ limits: LogLimits
    ) throws(LogError) -> (header: LogHeader, loader: LogLoader) {
        let places = [0, LogHeader.copyOffset]
        let copies = [try header(of: file, at: places[0]), try header(of: file, at: places[1])]
        guard let header = copies[0] ?? copies[1] else { throw LogError(.unreadable, "the file has no header") }
        var loader = try LogLoader(file, header, known: known, limits)
        for (copy, place) in zip(copies, places) where copy != header {
            loader.addDamage(.header, at: place, size: LogHeader.size)
        }
        return (header, loader)
    }

    private static func header(of file: LogFile, at offset: Int) throws(LogError) -> LogHeader? {
        try withUnsafeTemporaryAllocation(byteCount: LogHeader.size, alignment: 16) { bytes in
            Result { () throws(LogError) in
                let count = try file.read(into: bytes, at: offset)
                return try LogHeader(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
            }
        }.get()
    }
}
