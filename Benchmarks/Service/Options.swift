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
          --floods             one program's latency beside another's 1,024 calls in flight
          --vs-gnome-keyring   also measure gnome-keyring-daemon, as far as it can be filled

        """

    /// Parses the command line; nil when it is invalid.
    init?(_ arguments: some Sequence<String>) {
        var sizes = [100, 10_000]
        var (measuresPeer, measuresFloods) = (false, false)
        let arguments = Array(arguments)
        if arguments.first == "--flood", arguments.count == 3, let flood = Flood(arguments[1], arguments[2]) {
            self = .flood(flood)
            return
        }
        for argument in arguments {
            switch argument {
            case "--quick": sizes = [100, 10_000]
            case "--full": sizes = [100, 10_000, 100_000]
            case "--floods": measuresFloods = true
            case "--vs-gnome-keyring": measuresPeer = true
            case "--security":
                self = .measureSecurity
                return
            case "--floor":
                self = .floor
                return
            case "--help", "-h":
                self = .help
                return
            default: return nil
            }
        }
        self = measuresFloods ? .measureFloods(peer: measuresPeer) : .measure(sizes: sizes, peer: measuresPeer)
    }
}
