import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Keys with an access control: a person is asked when they are used.
struct ProtectedKeyTests {
    private static let control = [Reserved.accessControl: "privateKeyUsage and devicePasscode"]

    @Test("one authentication serves a batch of the caller's signatures, each audited, and no other caller's")
    func sign_underAGrant_servesABatch() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let other = try await service.makeClient()
            let (item, publicKey, prompt) = try await client.generateKey("Key", Self.control)
            #expect(prompt == .root)
            await #expect(throws: BusError.isLocked) { try await client.sign([1], with: item) }
            let context = try await ContextClient(client)
            try await context.set("ReuseDuration", to: .uint32(0))
            try await context.set("GrantDuration", to: .uint32(300_000))
            #expect(try await client.complete(context.unlock([item]).prompt).paths == [item.rawValue])
            let message = "use the key “Key”, for 5 minutes"
            #expect(prompter.questions.all.map(\.wish) == [message])
            for number in 0..<20 as Range<UInt8> {
                let signature = try await client.sign([number], with: item)
                #expect(try KeyKind.p256.verifies(signature, of: [number], by: publicKey))
            }
            await #expect(throws: BusError.isLocked) { try await other.sign([1], with: item) }
            // A grant lets the key be used, not read.
            await #expect(throws: BusError.accessDenied) { try await client.secret(of: item, session: session) }
            #expect(try await client.secrets(of: [item], session: session).isEmpty)
            try await client.lock([item])
            await #expect(throws: BusError.isLocked) { try await client.sign([1], with: item) }
            let entries = try await service.waitForEntries { $0.contains { $0.outcome.hasSuffix("× 19") } }
            let uses = entries.filter { $0.kind == "key-use" }
            #expect(uses.map(\.outcome) == ["success × 19", "success"] && uses.allSatisfy { $0.item == item.rawValue })
            #expect(!entries.contains { $0.kind == "release" })
            #expect(prompter.questions.count == 1)
        }
    }

    @Test("a grant for one use serves one signature, also a failed one")
    func sign_underAGrantForOneUse_servesOne() async throws {
        try await RunningService.withPrompter { service, _ in
            let client = service.client
            let (item, _, _) = try await client.generateKey("Key", Self.control)
            let context = try await ContextClient(client)
            try await context.set("ReuseDuration", to: .uint32(0))
            try await context.set("GrantDuration", to: .uint32(0))
            #expect(try await client.complete(context.unlock([item]).prompt).paths == [item.rawValue])
            let signatures = (0..<10).map { _ in Task { try await client.sign([1], with: item) } }
            var made = 0
            for signature in signatures {
                do {
                    _ = try await signature.value
                    made += 1
                } catch let error as BusError {
                    #expect(error == .isLocked)
                }
            }
            #expect(made == 1)
            #expect(try await client.complete(context.unlock([item]).prompt).paths == [item.rawValue])
            await #expect(throws: BusError.unsuitableAlgorithm) {
                try await client.sign([1], with: item, KeyKind.rsa2048.signature)
            }
            await #expect(throws: BusError.isLocked) { try await client.sign([1], with: item) }
        }
    }

    @Test("a key for use alone asks nobody, and its deletion is not audited")
    func sign_privateKeyUsageAlone_asksNobody() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let (item, publicKey, _) = try await client.generateKey("Key", [Reserved.accessControl: "privateKeyUsage"])
            #expect(try await !client.isItemLocked(item))
            #expect(try await KeyKind.p256.verifies(client.sign([1], with: item), of: [1], by: publicKey))
            #expect(try await client.attributes(of: item)[Reserved.accessControl] == "privateKeyUsage")
            #expect(try await client.deleteItem(item) == .root)
            #expect(try await service.entries().allSatisfy { $0.kind == "access-control-change" })
        }
    }
}
