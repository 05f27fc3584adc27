import Foundation
import KeychaindGcrypt
import KeychaindTestSupport
import Testing

@testable import KeychaindLog

/// A folder with one log, removed at the end.
final class LogFolder: Sendable {
    static let application: UInt32 = 0x5445_5354
    static let uuid = [UInt8](0..<16)

    let path: String

    init() {
        path = NSTemporaryDirectory() + "/log-" + UUID().uuidString
        mkdir(path, 0o700)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var log: String { path + "/test.keychain" }

    var bytes: [UInt8] {
        get { FileManager.default.contents(atPath: log).map(Array.init) ?? [] }
        set {
            unlink(log)
            _ = FileManager.default.createFile(atPath: log, contents: Data(newValue))
        }
    }

    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path).sorted()) ?? [] }

    func create(
        _ contents: Contents = [:],
        limits: LogLimits = .small,
        system: LogSystem = LogSystem()
    ) throws(LogError) -> RecordLog {
        let records = contents.sorted { $0.key < $1.key }.map { number, text in RecordChange.put(number, text) }
        return try RecordLog.create(
            log,
            application: Self.application,
            uuid: Self.uuid,
            records,
            .test,
            limits: limits,
            system: system
        )
    }

    func open(
        known: UInt64 = 0,
        readOnly: Bool = false,
        limits: LogLimits = .small,
        system: LogSystem = LogSystem()
    ) throws(LogError) -> RecordLog {
        try RecordLog(
            log,
            application: Self.application,
            uuid: Self.uuid,
            known: known,
            readOnly: readOnly,
            limits: limits,
            system: system
        )
    }
}

/// What a log contains: the texts of its records, by number.
typealias Contents = [UInt64: String]

/// Gives the process enough locked memory, also if a test of a log is the first to use a key.
struct LockedPool: SuiteTrait {
    func prepare(for test: Test) async throws {
        try LockedMemory.prepare()
    }
}

extension Trait where Self == LockedPool {
    static var lockedPool: LockedPool { LockedPool() }
}

extension LogKey {
    static let test = LogKey.numbered(1)

    static func numbered(_ number: UInt8) -> LogKey {
        // Constants of the tests.
        // swift-format-ignore: NeverUseForceTry
        try! LogKey(SealingKey(SecureBytes(copying: [UInt8](repeating: number, count: 32))))
    }
}

extension LogLimits {
    /// A room that is soon used up.
    static var small: LogLimits {
        var limits = LogLimits()
        limits.room = 4096
        limits.reserve = 1024
        return limits
    }
}

extension RecordID {
    static func item(_ number: UInt64) -> RecordID { RecordID(kind: 2, number: number) ?? .first }

    private static let first = RecordID(kind: 2, number: 0).unsafelyUnwrapped
}

extension RecordChange {
    /// Stores a text in each part of a record.
    static func put(_ number: UInt64, _ text: String, erasesPast: Bool = false) -> RecordChange {
        let content = RecordContent(
            open: Array("open \(text)".utf8),
            metadata: Array(text.utf8),
            secret: Array("a secret with a tag: \(text)".utf8)
        )
        return RecordChange(.item(number), content, erasesPast: erasesPast)
    }

    static func remove(_ number: UInt64, erasesPast: Bool = true) -> RecordChange {
        RecordChange(.item(number), nil, erasesPast: erasesPast)
    }
}

extension RecordLog {
    /// Reads all records of a state with the key; the damaged ones are missing.
    func read(_ state: LogState? = nil, _ key: LogKey? = .test, checksSecrets: Bool = true) throws -> Contents {
        var contents: Contents = [:]
        try forEach(in: state ?? self.state, key, checksSecrets: checksSecrets) { record in
            let text = record.metadata.map { bytes in String(decoding: bytes, as: UTF8.self) } ?? "sealed"
            contents[record.id.number] = text
            guard key != nil, checksSecrets else { return }
            #expect(record.open.elementsEqual("open \(text)".utf8))
            #expect(record.secret.elementsEqual("a secret with a tag: \(text)".utf8))
        }
        return contents
    }

    func commit(_ changes: RecordChange...) throws(LogError) { try commit(changes, .test) }
}

extension Contents {
    /// The contents after changes.
    func after(_ changes: [RecordChange]) -> Contents {
        var contents = self
        for change in changes {
            contents[change.id.number] = change.content.map { content in
                String(decoding: content.metadata, as: UTF8.self)
            }
        }
        return contents
    }
}

func refused(_ code: LogError.Code, _ body: () throws -> Void, location: SourceLocation = #_sourceLocation) {
    do {
        try body()
        Issue.record("it was not refused", sourceLocation: location)
    } catch {
        #expect((error as? LogError)?.code == code, "\(error)", sourceLocation: location)
    }
}
