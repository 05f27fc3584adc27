import DBus
import Glibc
import Hardening
import Logging

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

// Before the process opens anything: what it is given has numbers, which could otherwise be those of its own files.
let passed = PassedDescriptors.take()
if let descriptor = options.passwordDescriptor, !passed.leaves(descriptor) {
    end(.usage, "--unlock-fd needs the number of a descriptor that is open, and that nobody else has given along")
}

let domain: Domain
do throws(Domain.Failure) {
    domain = try Domain.start(dataDirectory: options.dataDirectory)
} catch {
    end(.inputOutput, error.reason)
}
// Only now: whoever has renounced new privileges cannot start the helper that makes the domain's folders.
ProcessHardening.apply()

LoggingSystem.bootstrap { [level = options.isVerbose ? Logger.Level.debug : .notice] _ in
    JournalLogHandler(level: level)
}

let signals = TerminationSignals()
Task(executorPreference: BusActor.loop) { @BusActor [options, domain] in
    await Daemon.start(options, in: domain, with: passed, endingOn: signals)
}
BusActor.loop.run()
