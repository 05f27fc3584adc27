import Glibc
import KeychaindDBus
import KeychaindDesktop
import KeychaindRights

/// The owner of a bus name, and the programs that wait for it.
enum NameOwner {
    /// The owner's process and program, and how to replace it.
    @BusActor
    static func find(_ name: String, on connection: Connection) async -> String {
        guard let process = try? await connection.process(of: name, timeout: patience) else {
            return "its owner is unknown; keychaind --replace takes the name over if the owner allows it"
        }
        let folder = ProcessFolder(process, in: "/proc")
        let program = UserRights.perform { folder.link("exe") } ?? "an unknown program"
        return "process \(process), \(program), has it; stop that process, or try keychaind --replace"
    }

    /// Ends the providers that wait for the name: the bus gives it to the first of them when this process leaves.
    ///
    /// Any other program that waits is left alone. On a connection of its own: on a busy one, the answers would come
    /// behind the calls of programs.
    ///
    /// - Returns: the programs that still wait, with their process numbers.
    @BusActor
    static func endWaitingProviders(_ name: String, at address: String) async throws(BusError) -> [String] {
        let deadline = ContinuousClock.now + patience
        let connection = try UserRights.perform { () throws(BusError) in try Connection.open(peer: address) }
        try await connection.join(timeout: patience)
        defer { connection.close() }
        var ended: Set<pid_t> = []
        while true {
            let waiting = await waiting(for: name, on: connection, until: deadline)
            let known = waiting.filter { providers.contains($0.program) }
            guard !known.isEmpty, ContinuousClock.now < deadline else {
                return waiting.map { "\($0.program) (\($0.process))" }
            }
            for provider in known where ended.insert(provider.process).inserted { kill(provider.process, SIGTERM) }
            await BusActor.loop.wait(for: .milliseconds(20))
        }
    }

    /// As in /proc/PID/comm, which ends after 15 bytes; the program file of gnome-keyring is hidden.
    private static let providers: Set = ["gnome-keyring-d", "kwalletd5", "kwalletd6", "ksecretd", "oo7-daemon"]
    private static let patience = Duration.seconds(2)
    private static let mostWaiting = 64

    /// The programs behind the owner that are found by the deadline.
    @BusActor
    private static func waiting(
        for name: String,
        on connection: Connection,
        until deadline: ContinuousClock.Instant
    ) async -> [(process: pid_t, program: String)] {
        let names = (try? await connection.queuedOwners(of: name, timeout: patience)) ?? []
        var waiting: [(process: pid_t, program: String)] = []
        for other in names.dropFirst().prefix(mostWaiting) where ContinuousClock.now < deadline {
            guard let process = try? await connection.process(of: other, timeout: patience) else { continue }
            let folder = ProcessFolder(process, in: "/proc")
            let program = folder.read("comm", limit: 16).map { String(decoding: $0.prefix { $0 != 10 }, as: UTF8.self) }
            waiting.append((process, program ?? "an unknown program"))
        }
        return waiting
    }
}
