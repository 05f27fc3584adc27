import Glibc
import KeychaindDBus
import SecretServiceClient
import Security

extension Suite {
    /// Adds the cost of Apple's functions, compared with a GetSecret.
    func addSecurityRows(_ client: SecretClient, _ process: ChildProcess, to report: inout Report) throws {
        setenv("DBUS_SESSION_BUS_ADDRESS", stage.address, 1)
        let item: [CFString: Any] = [
            kSecClass: kSecClassGenericPassword, kSecAttrService: "benchmark", kSecAttrAccount: "user",
        ]
        let secret = Data(repeating: 7, count: 32)
        let addition = item.merging([kSecValueData: secret]) { $1 } as CFDictionary
        guard SecItemAdd(addition, nil) == errSecSuccess else { throw BenchmarkError(reason: "SecItemAdd failed") }
        let query = item.merging([kSecReturnData: true]) { $1 } as CFDictionary
        try stage.onOneProcessor(with: process) {
            try addLookupRows(query, secret, client, where: "", .atMost(3.5), to: &report)
        }
        try addLookupRows(query, secret, client, where: ", any processors", .none, to: &report)
        // The library has a thread of its own, and each call switches threads.
        try addDuplicateRows(addition, client, process, to: &report)
    }

    private func addLookupRows(
        _ query: CFDictionary,
        _ secret: Data,
        _ client: SecretClient,
        where place: String,
        _ requirement: Requirement,
        to report: inout Report
    ) throws {
        let times = try Interleaving.calls.compare(
            {
                let number = Int.random(in: client.items.indices)
                let (reply, reading) = try client.bus.timedCall(client.getSecret(number, in: client.encrypted))
                try client.checkSecret(number, in: client.encrypted, reply)
                return reading
            },
            {
                var result: CFTypeRef?
                let start = ContinuousClock.now
                let status = SecItemCopyMatching(query, &result)
                let duration = ContinuousClock.now - start
                guard status == errSecSuccess, result as? Data == secret else {
                    throw BenchmarkError(reason: "SecItemCopyMatching returned \(status) or a wrong secret")
                }
                return duration
            },
            {
                let number = Int.random(in: client.items.indices)
                let path = client.items[number].rawValue
                let start = ContinuousClock.now
                let secret = try SharedClient.shared.wait { (client) throws(SecretServiceError) in
                    try await client.item(at: path).secret(prompting: .never).bytes
                }
                let duration = ContinuousClock.now - start
                guard secret == SampleItem(number: number).secret else {
                    throw BenchmarkError(reason: "SecretItem.secret() returned a wrong secret")
                }
                return duration
            }
        )
        report.add(
            Row("SecItemCopyMatching, data\(place)", times, to: "GetSecret DH", requirement),
            isPeer: isPeer
        )
        report.add(Row("SecretItem.secret()\(place)", times, at: 2, to: "GetSecret DH", .none), isPeer: isPeer)
    }

    /// Adds the addition of an existing item: it should cost little more than the lookup, and writes nothing.
    private func addDuplicateRows(
        _ addition: CFDictionary,
        _ client: SecretClient,
        _ process: ChildProcess,
        to report: inout Report
    ) throws {
        let before = process.usage.writtenBytes
        let times = try Interleaving.calls.compare(Floor(client.bus).ping) {
            let start = ContinuousClock.now
            let status = SecItemAdd(addition, nil)
            let duration = ContinuousClock.now - start
            guard status == errSecDuplicateItem else { throw BenchmarkError(reason: "SecItemAdd returned \(status)") }
            return duration
        }
        report.add(Row("SecItemAdd of what exists", times, to: "Ping", .none), isPeer: isPeer)
        guard let before, let after = process.usage.writtenBytes else { return }
        report.add(Row("  written in all", Double(after - before) / 1024, "KiB", .atMost(0)), isPeer: isPeer)
    }
}
