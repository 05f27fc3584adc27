/// The command line.
enum Options {
    /// Measure with collections of these sizes, optionally with another provider.
    case measure(sizes: [Int], peer: Bool)
    /// Measure Apple's functions only.
    case measureSecurity
    /// Measure what one program waits for while another floods a provider.
    case measureFloods(peer: Bool)
    /// Run as a flooding program.
    case flood(Flood)
    /// Measure the provider on the session bus, as it grows.
    case sampleSizes([Int], seconds: Int)
    /// Measure the provider on the session bus, as it is.
    case sampleLatencies(count: Int, seconds: Int)
    /// Count the first items that the provider on the session bus has.
    case countIntact(of: Int)
    /// Run as the floor service.
    case floor
    case help

    static let text = """
        Usage: ServiceBenchmark [--quick | --full | --security | --floods] [--vs-gnome-keyring]

        Measures keychaind with one blocking client on a private bus, and checks it against the requirements of
        docs/performance.md. Exits with 1 if one is missed. The program is the keychaind of this build, or the one in
        the environment variable KEYCHAIND.

          --quick              with 100 and 10,000 items (the default)
          --full               also with 100,000 items
          --security           Apple's functions only, with 100 items
          --floods             one program's latency beside another's 1,024 calls in flight, or long calls
          --vs-gnome-keyring   also measure gnome-keyring-daemon, as far as it can be filled

        """

    /// Parses the command line; nil when it is invalid.
    init?(_ arguments: some Sequence<String>) {
        let arguments = Array(arguments)
        if let command = Options.command(arguments) {
            self = command
            return
        }
        var sizes = [100, 10_000]
        var (measuresPeer, measuresFloods) = (false, false)
        for argument in arguments {
            switch argument {
            case "--quick": sizes = [100, 10_000]
            case "--full": sizes = [100, 10_000, 100_000]
            case "--floods": measuresFloods = true
            case "--vs-gnome-keyring": measuresPeer = true
            default: return nil
            }
        }
        self = measuresFloods ? .measureFloods(peer: measuresPeer) : .measure(sizes: sizes, peer: measuresPeer)
    }

    /// What is run by itself; the most by this program, and by `Benchmarks/Comparison`.
    private static func command(_ arguments: [String]) -> Options? {
        let numbers = arguments.dropFirst().map { Int($0) ?? 0 }
        switch (arguments.first, arguments.count) {
        case ("--help", _), ("-h", _): return .help
        case ("--security", 1): return .measureSecurity
        case ("--floor", 1): return .floor
        case ("--flood", 3): return Flood(arguments[1], arguments[2]).map { .flood($0) }
        case ("--sizes", 3):
            return .sampleSizes(arguments[1].split(separator: ",").compactMap { Int($0) }, seconds: numbers[1])
        case ("--latencies", 3): return .sampleLatencies(count: numbers[0], seconds: numbers[1])
        case ("--intact", 2): return .countIntact(of: numbers[0])
        default: return nil
        }
    }
}
