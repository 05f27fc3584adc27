/// What the command line asks for.
enum Options {
    /// To measure with collections of these sizes, and another provider beside keychaind.
    case measure(sizes: [Int], peer: Bool)
    /// To be the service that the others are compared with.
    case floor
    case help

    static let text = """
        Usage: ServiceBenchmark [--quick | --full] [--vs-gnome-keyring]

        Measures the keychaind beside this program, or that in the environment variable KEYCHAIND, as one blocking client on
        a bus of its own, and holds it to the bounds of docs/performance.md. Ends with 1 if one is missed.

          --quick              at 100 and 10,000 items (the default)
          --full               at 100,000 too
          --vs-gnome-keyring   measure gnome-keyring-daemon too, as far as it can be filled

        """

    /// Nil for a command line that cannot be understood.
    init?(_ arguments: some Sequence<String>) {
        var sizes = [100, 10_000]
        var measuresPeer = false
        for argument in arguments {
            switch argument {
            case "--quick": sizes = [100, 10_000]
            case "--full": sizes = [100, 10_000, 100_000]
            case "--vs-gnome-keyring": measuresPeer = true
            case "--floor":
                self = .floor
                return
            case "--help", "-h":
                self = .help
                return
            default: return nil
            }
        }
        self = .measure(sizes: sizes, peer: measuresPeer)
    }
}
