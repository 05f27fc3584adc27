/// How the daemon ends, in the terms of sysexits.h.
enum ExitStatus: Int32 {
    /// Asked to end, or replaced.
    case success = 0
    case usage = 64
    /// There is no bus, or another provider has the name.
    case unavailable = 69
    /// The data folder cannot be used.
    case inputOutput = 74
    /// Another keychaind uses the same folder.
    case inUse = 75
    /// The bus has ended the connection; whoever keeps the daemon running should start it again.
    case disconnected = 76
}
