import Glibc

/// The ignored and blocked signals that the process was started with, which its command inherits.
struct SignalState: Sendable {
    /// Read before anything handles a signal.
    static let atStart = SignalState()

    /// A bit for each signal, the lowest for signal 1.
    private let ignored: UInt64
    private let blocked: UInt64

    private init() {
        ignored = Self.mask("SigIgn:")
        // The thread that runs now may be one of a pool, which blocks signals; this is the main thread's.
        blocked = Self.mask("SigBlk:")
    }

    /// A line of proc(5)'s `status`.
    private static func mask(_ name: String) -> UInt64 {
        guard let file = fopen("/proc/self/status", "re") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 4096)
        while fgets(&line, Int32(line.count), file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            guard text.hasPrefix(name) else { continue }
            return UInt64(text.dropFirst(name.count).filter { !$0.isWhitespace }, radix: 16) ?? 0
        }
        return 0
    }

    func restore() {
        for number in [SIGINT, SIGTERM, SIGHUP, SIGPIPE] {
            signal(number, ignored >> UInt64(number - 1) & 1 == 1 ? SIG_IGN : SIG_DFL)
        }
        var mask = sigset_t()
        sigemptyset(&mask)
        for number in 1...Int32(64) where blocked >> UInt64(number - 1) & 1 == 1 { sigaddset(&mask, number) }
        pthread_sigmask(SIG_SETMASK, &mask, nil)
    }
}
