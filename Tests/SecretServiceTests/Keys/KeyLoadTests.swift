import KeychaindDBus
import KeychaindModel
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Keys under load, and when something ends in the middle of an operation.
struct KeyLoadTests {
    /// A service whose `login` is unlocked.
    @BusActor
    private func makeService(_ change: (inout ServiceLimits) -> Void) async throws -> ProviderInProcess {
        var limits = ServiceLimits.patient
        change(&limits)
        let service = try await ProviderInProcess(limits: limits)
        try await service.collection(.login).unlock(with: ProviderInProcess.bytes(ProviderInProcess.password))
        return service
    }

    @Test("signatures at once are each answered, and other clients are served meanwhile", .onLoop)
    @BusActor
    func manySignatures_areEachAnswered() async throws {
        let service = try await makeService { limits in limits.waitingCalls = 100 }
        let (item, publicKey, _) = try await service.client.generateKey()
        // It waits for all answers as long as they take.
        let hog = try RawClient(service.bus.address)
        for _ in 0..<200 {
            hog.send(
                .toService(item, SecretServiceProxy.keyInterface, "Sign", KeyKind.p256.signature, ByteArray([1]))
            )
        }
        try hog.waitForBus()
        let waiting = Task { await hog.replies(200) }
        let signature = try await service.client.sign([2], with: item)
        #expect(try KeyKind.p256.verifies(signature, of: [2], by: publicKey))
        let answers = await waiting.value
        #expect(answers.compactMap(\.error).allSatisfy { $0 == .limitsExceeded })
        let made = try answers.filter { $0.error == nil }.map { try $0.read(ByteArray.self).bytes }
        #expect(made.count >= 100)
        #expect(try KeyKind.p256.verifies(#require(made.first), of: [1], by: publicKey))
        await service.vault.close()
    }

    /// A call that makes a key, which takes a while.
    private func slowKey(_ attributes: [String: String], bits: UInt32 = 2048) -> Message {
        .toService(
            SecretServiceProxy.defaultAlias,
            SecretServiceProxy.keysInterface,
            "GenerateKey",
            SecretServiceProxy.itemProperties(label: "key", attributes),
            ["application-tag"],
            "rsa",
            bits,
            [String: Variant]()
        )
    }

    @Test("the waiting work of a client that leaves is not begun")
    func leavingClient_waitingWorkEnds() async throws {
        try await RunningService.withService { service in
            let client = service.client
            let hog = try RawClient(service.bus.address)
            // All 16 take many times as long as it takes the client to leave.
            for number in 0..<16 {
                hog.send(slowKey(["case": "leaves", "application-tag": "0\(number)"], bits: 3072))
            }
            try hog.waitForBus()
            let name = hog.uniqueName
            hog.close()
            // The bus tells the service before it answers the next call.
            try await eventually("the end of the client") { try await client.connection.owner(of: name) == nil }
            // Waits for the turn after the one that was running.
            let (item, publicKey, _) = try await client.generateKey("key", ["case": "stays"])
            #expect(try await KeyKind.p256.verifies(client.sign([1], with: item), of: [1], by: publicKey))
            // Those that were made before the service knew of the end.
            let made = try await client.searchItems(["case": "leaves"]).unlocked
            #expect(made.count < 16)
            _ = try await client.generateKey("key", ["case": "stays", "application-tag": "2"], .rsa2048)
            #expect(try await client.searchItems(["case": "leaves"]).unlocked == made)
        }
    }

    @Test("more new keys than may wait are LimitsExceeded", .onLoop)
    @BusActor
    func generateKey_many_areLimited() async throws {
        let service = try await makeService { limits in limits.newKeys = 1 }
        // Faster than keys are made, whatever else the tests do.
        let hog = try RawClient(service.bus.address)
        for number in 0..<8 { hog.send(slowKey(["application-tag": "\(number)"])) }
        let errors = await hog.replies(8).compactMap(\.error)
        #expect(errors.allSatisfy { $0 == .limitsExceeded })
        #expect(!errors.isEmpty && errors.count <= 8 - 2)
        await service.vault.close()
    }

    @Test("locking in the middle of signatures answers each with a signature or IsLocked")
    func lock_duringSignatures_answersEach() async throws {
        try await RunningService.withService { service in
            let (item, publicKey, _) = try await service.client.generateKey("key", [:], .rsa2048)
            let other = try await service.makeClient()
            let calls = (0..<200).map { _ in
                Task { try await other.sign([1], with: item, KeyKind.rsa2048.signature) }
            }
            _ = try await other.sign([1], with: item, KeyKind.rsa2048.signature)
            try await service.client.lock([.login])
            for call in calls {
                do {
                    #expect(try await KeyKind.rsa2048.verifies(call.value, of: [1], by: publicKey))
                } catch let error as BusError {
                    #expect(error == .isLocked)
                }
            }
            await #expect(throws: BusError.isLocked) { try await other.sign([1], with: item) }
        }
    }

    @Test("a key that was generated signs after a crash and a restart, and still does not leave")
    func killedService_keyIsThere() async throws {
        try await RunningService.withService { service in
            let (item, publicKey, _) = try await service.client.generateKey()
            let client = service.client
            let calls = (0..<50).map { _ in Task { try await client.sign([1], with: item) } }
            _ = try await client.sign([1], with: item)
            try await service.daemon.kill()
            for call in calls {
                do {
                    #expect(try await KeyKind.p256.verifies(call.value, of: [1], by: publicKey))
                } catch let error as BusError {
                    #expect(error.name != .timeout)
                }
            }
            try await service.daemon.start()
            #expect(try await KeyKind.p256.verifies(client.sign([2], with: item), of: [2], by: publicKey))
            let session = try await client.openPlainSession()
            await #expect(throws: BusError.accessDenied) { try await client.secret(of: item, session: session) }
        }
    }
}
