import Logging
import TestSupport

/// Keeps what is logged.
struct LogRecorder: LogHandler {
    /// A line of the log.
    struct Line: Sendable {
        let level: Logger.Level
        let text: String
    }

    let lines: Recorder<Line>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        lines.record(Line(level: event.level, text: "\(event.message) \(event.metadata ?? [:])"))
    }
}

extension Logger {
    /// A logger whose lines go to a recorder.
    init(recordingTo lines: Recorder<LogRecorder.Line>) {
        self.init(label: "test") { _ in LogRecorder(lines: lines) }
    }
}
