import DBus
import Glibc
import Logging

ProcessHardening.apply()

/// Ends the process with a message for a person.
func end(_ status: ExitStatus, _ message: String) -> Never {
    let line = Array("keychaind: \(message)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
    exit(status.rawValue)
}

let options: Options
do throws(Options.UsageError) {
    switch try Options.parse(CommandLine.arguments.dropFirst()) {
    case .serve(let parsed):
        options = parsed
    case .showVersion:
        print("keychaind \(Version.current)")
        exit(ExitStatus.success.rawValue)
    case .showHelp:
        print(Options.help)
        exit(ExitStatus.success.rawValue)
    }
} catch {
    end(.usage, "\(error.message)\n\(Options.help)")
}

LoggingSystem.bootstrap { [level = options.isVerbose ? Logger.Level.debug : .notice] _ in
    JournalLogHandler(level: level)
}

let signals = TerminationSignals()
Task(executorPreference: BusActor.loop) { @BusActor [options] in
    await Daemon.start(options, endingOn: signals)
}
BusActor.loop.run()
