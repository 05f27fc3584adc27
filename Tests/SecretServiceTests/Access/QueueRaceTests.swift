import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Calls for an unprotected item that are still queued when a protected one replaces it.
struct QueueRaceTests {
    /// Long enough to be read from disk, where calls queue.
    private static let size = 10_000

    private static func secret(_ letter: Character) -> String { String(repeating: letter, count: size) }

    /// The results, first letters only.
    private static func letters(_ calls: [Task<[UInt8], any Error>]) async -> Set<UInt8> {
        var letters: Set<UInt8> = []
        for call in calls {
            if let value = try? await call.value, let first = value.first { letters.insert(first) }
        }
        return letters
    }

    @Test("no call that was queued for the unprotected item reads the protected one", arguments: ["userPresence", ""])
    func queuedCalls_getNoSecretThatIsProtectedMeanwhile(accessControl: String) async throws {
        try await RunningService.withPrompter { service, _ in
            let victim = service.client
            let session = try await victim.openPlainSession()
            let attacker = try await service.makeClient()
            let other = try await attacker.openPlainSession()
            for round in 0..<4 {
                let attributes = ["service": "bank \(round)"]
                let item = try await attacker.createItem(
                    "Bank",
                    attributes,
                    secret: Self.secret("o"),
                    session: other
                )
                let protection = accessControl.isEmpty ? [:] : [Reserved.accessControl: accessControl]
                let properties = SecretServiceProxy.itemProperties(
                    label: "Bank",
                    attributes.merging(protection) { $1 }
                )
                let replacement = Task {
                    try await victim.createItem(
                        properties: properties,
                        secret: WireSecret(session: session, value: Array(Self.secret("p").utf8)),
                        replace: true
                    )
                }
                let calls = (0..<60).map { number in
                    Task {
                        number.isMultiple(of: 2)
                            ? try await attacker.secret(of: item, session: other).value
                            : try await attacker.secrets(of: [item], session: other)[item]?.value ?? []
                    }
                }
                #expect(try await replacement.value.item == item)
                let letters = await Self.letters(calls)
                guard accessControl.isEmpty else {
                    #expect(!letters.contains(UInt8(ascii: "p")))
                    await #expect(throws: BusError.isLocked) { try await attacker.secret(of: item, session: other) }
                    _ = try await service.unlock([item], as: victim)
                    #expect(try await victim.secretText(of: item, session: session) == Self.secret("p"))
                    continue
                }
                // Without protection, every caller reads the new one.
                #expect(try await attacker.secretText(of: item, session: other) == Self.secret("p"))
            }
        }
    }
}
