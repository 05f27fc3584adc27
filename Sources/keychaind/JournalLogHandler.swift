import Glibc
import Logging

/// Writes log lines to standard error, with the priority for the journal or the level for a terminal.
struct JournalLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level

    /// Whether standard error goes to the journal (systemd.exec(5), `JOURNAL_STREAM`).
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

    /// Replaces control and format characters by spaces and truncates the line.
    ///
    /// Labels and foreign error texts thus cannot forge entries, control a terminal, or reverse the text direction.
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

    /// Maximum length in Unicode scalars.
    private static let longestLine = 2000

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
