package import Logging

/// A log handler that records each line.
package struct LogRecorder: LogHandler {
    /// A line of the log.
    package struct Line: Sendable {
        package let level: Logger.Level
        package let text: String
    }

    let lines: Recorder<Line>
    package var metadata: Logger.Metadata = [:]
    package var logLevel = Logger.Level.trace

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) {
        lines.record(Line(level: event.level, text: "\(event.message) \(event.metadata ?? [:])"))
    }
}

extension Logger {
    /// A logger whose lines go to a recorder.
    package init(recordingTo lines: Recorder<LogRecorder.Line>) {
        self.init(label: "test") { _ in LogRecorder(lines: lines) }
    }

    /// A logger that discards everything.
    package static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}
