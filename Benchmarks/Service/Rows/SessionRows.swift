import BenchmarkSupport
import Gcrypt

extension Suite {
    /// The floor itself, and opening sessions.
    func addSessionRows(_ client: SecretClient, to report: inout Report) throws {
        let floor = Floor(client.bus)
        let times = try Interleaving.calls.medians(floor.ping, floor.echo)
        report.add(Row("Ping, the floor", times[0], to: times[0], "Ping", .none), isPeer: isPeer)
        report.add(Row("echo of 100 bytes, the floor", times[1], to: times[0], "Ping", .none), isPeer: isPeer)

        let power = try ModularPower(
            base: DiffieHellman(.oakley2).publicKey,
            exponent: SecureBytes.random(count: DiffieHellman.exponentSize),
            isSecure: false
        )
        let clock = ContinuousClock()
        let opening = try Interleaving.longCalls.medians(
            {
                clock.measure {
                    power.compute()
                    power.compute()
                }
            },
            {
                let (reply, duration) = try client.bus.timedCall(client.openEncryptedSession())
                _ = try client.bus.call(client.closeSession(openedBy: reply))
                return duration
            }
        )
        report.add(Row("OpenSession DH", opening[1], to: opening[0], "two powers", .atMost(1.4)), isPeer: isPeer)
    }
}
