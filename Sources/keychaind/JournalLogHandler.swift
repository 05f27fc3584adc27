import Glibc
import Logging

/// Writes log lines to standard error: for the journal with the priority in front, for a person with its name.
struct JournalLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level

    /// Whether standard error is the journal, as systemd tells its services.
    private let isJournal = getenv("JOURNAL_STREAM") != nil

    init(level: Logger.Level) {
        logLevel = level
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var line = isJournal ? "<\(JournalLogHandler.priority(of: event.level))>" : "keychaind: \(event.level): "
        line += event.message.description
        for (key, value) in metadata.merging(event.metadata ?? [:], uniquingKeysWith: { $1 }).sorted(by: {
            $0.key < $1.key
        }) {
            line += " \(key)=\(value)"
        }
        // One line is one entry, whatever a label or an error text holds.
        let text = line.map { $0.isNewline ? " " : $0 } + "\n"
        String(text).utf8.withContiguousStorageIfAvailable { bytes in
            _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count)
        }
    }

    /// The syslog priority.
    private static func priority(of level: Logger.Level) -> Int {
        switch level {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}
