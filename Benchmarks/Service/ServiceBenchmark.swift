import Glibc
import KeychaindGcrypt

/// Prints a provider's speed as seen by a program, and checks keychaind against its requirements.
@main
enum ServiceBenchmark {
    static func main() {
        guard let options = Options(CommandLine.arguments.dropFirst()) else {
            complain(Options.text)
            exit(2)
        }
        do {
            switch options {
            case .floor: try FloorService.run()
            case .flood(let flood): try flood.run()
            case .sampleSizes(let sizes, let seconds):
                _ = try Gcrypt.initialize(lockedBytes: 256 << 10)
                try Sampling.sampleSizes(sizes, within: seconds)
            case .countIntact(let count):
                _ = try Gcrypt.initialize(lockedBytes: 256 << 10)
                try Sampling.countIntact(of: count)
            case .sampleLatencies(let count, let seconds):
                _ = try Gcrypt.initialize(lockedBytes: 256 << 10)
                try Sampling.sampleLatencies(count: count, within: seconds)
            case .help: print(Options.text)
            case .measure(let sizes, let measuresPeer):
                exit(try measure(.all(sizes: sizes), measuresPeer: measuresPeer) ? 0 : 1)
            case .measureFloods(let measuresPeer):
                exit(try measure(.floods, measuresPeer: measuresPeer) ? 0 : 1)
            case .measureSecurity:
                exit(try measure(.security, measuresPeer: false) ? 0 : 1)
            }
        } catch {
            complain("ServiceBenchmark: \(error)\n")
            exit(2)
        }
    }

    private static func complain(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }

    /// Whether all rows meet their requirements.
    private static func measure(_ content: Suite.Content, measuresPeer: Bool) throws -> Bool {
        _ = try Gcrypt.initialize(lockedBytes: 256 << 10)
        signal(SIGPIPE, SIG_IGN)
        var report = Report()
        if !Processors.takePrecedence() {
            report.note("Other processes may disturb the measurement: only root can take priority over them.")
        }
        try Suite.run(try .keychaind(), content, isPeer: false, report: &report)
        if measuresPeer {
            try Suite.run(.gnomeKeyring, content, isPeer: true, report: &report)
        }
        print(report.missed == 0 ? "\nEvery bound is kept." : "\n\(report.missed) bounds are missed.")
        return report.missed == 0
    }
}
