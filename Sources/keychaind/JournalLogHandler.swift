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
        let text = Array(JournalLogHandler.plain(line).utf8)
        _ = write(STDERR_FILENO, text, text.count)
    }

    /// One line, whatever a label or another program's error text holds: nothing that forges an entry, tells a terminal what to
    /// do, or turns the direction of writing.
    private static func plain(_ line: String) -> String {
        var plain = String.UnicodeScalarView()
        for scalar in line.unicodeScalars.prefix(longestLine) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: plain.append(" ")
            default: plain.append(scalar)
            }
        }
        return String(plain) + "\n"
    }

    /// How many characters of a line are written.
    private static let longestLine = 2000

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
