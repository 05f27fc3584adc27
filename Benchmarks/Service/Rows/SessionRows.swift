import KeychaindGcrypt

extension Suite {
    /// Adds the floor and the opening of sessions.
    func addSessionRows(_ client: SecretClient, to report: inout Report) throws {
        let floor = Floor(client.bus)
        let floors = try Interleaving.calls.compare(floor.ping, floor.echo)
        report.add(Row("Ping, the floor", floors, at: 0, to: "Ping", .none), isPeer: isPeer)
        report.add(Row("echo of 100 bytes, the floor", floors, to: "Ping", .none), isPeer: isPeer)

        let power = try ModularPower(
            base: DiffieHellman(.oakley2).publicKey,
            exponent: SecureBytes.random(count: DiffieHellman.exponentSize)
        )
        let clock = ContinuousClock()
        let opening = try Interleaving.longCalls.compare(
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
        report.add(Row("OpenSession DH", opening, to: "two powers", .atMost(1.4)), isPeer: isPeer)
    }
}
