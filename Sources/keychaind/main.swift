import Glibc
import KeychaindCommandLine
import KeychaindDBus
import KeychaindFIDO
import KeychaindHardening
import Logging

if SecurityKeyHelper.isAsked(for: CommandLine.arguments) { serveSecurityKeys() }

// Silences the TPM libraries, which also return their errors. Set here, before other threads can read the environment.
setenv("TSS2_LOG", "all+NONE", 0)

/// Exits with a message on standard error, in one line, and what explains it.
func end(_ status: DaemonExit, _ message: String, explanation: String = "") -> Never {
    // It may have the path of a program, which can forge further lines.
    let line = Array("keychaind: \(message.visible)\n\(explanation)".utf8)
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
        exit(DaemonExit.success.rawValue)
    case .showHelp:
        print(Options.help)
        exit(DaemonExit.success.rawValue)
    }
} catch {
    end(.usage, error.message, explanation: Options.help + "\n")
}

// Before the process opens any file: its own descriptors could otherwise have the announced numbers.
let passed = PassedDescriptors.take()
if let descriptor = options.passwordDescriptor, !passed.leaves(descriptor) {
    end(.usage, "--unlock-fd needs the number of a descriptor that is open and was not passed for another purpose")
}

let domain: Domain
do throws(Domain.Failure) {
    domain = try Domain.start(dataDirectory: options.dataDirectory)
} catch {
    end(.inputOutput, error.reason)
}
// After the domain: its folder helper is set-uid, and cannot start once new privileges are renounced.
ProcessHardening.apply()

LoggingSystem.bootstrap { [level = options.isVerbose ? Logger.Level.debug : .notice] _ in
    JournalLogHandler(level: level)
}

let signals = TerminationSignals()
Task(executorPreference: BusActor.loop) { @BusActor [options, domain] in
    await Daemon.start(options, in: domain, with: passed, endingOn: signals)
}
BusActor.loop.run()
