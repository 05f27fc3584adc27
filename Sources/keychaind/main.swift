import DBus
import Glibc
import Hardening
import Logging

ProcessHardening.apply()

// The TPM's libraries write what went wrong to standard error; it is in their result as well. Only here is there no other thread
// that could read the environment.
setenv("TSS2_LOG", "all+NONE", 0)

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
