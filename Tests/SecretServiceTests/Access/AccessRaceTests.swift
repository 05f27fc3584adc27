import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Access under concurrency, load and interruption.
struct AccessRaceTests {
    @Test("a thousand prompts of one client are limited, and other clients are served")
    func thousandPrompts_ofOneClient_areBounded_andOthersAreServed() async throws {
        try await RunningService.withPrompter { service, prompter in
            let hog = try await service.makeClient()
            let session = try await hog.openPlainSession()
            let item = try await hog.createProtectedItem(session: session)
            var refused = 0
            for _ in 0..<10 {
                let calls = (0..<100).map { _ in Task { try await hog.unlock([item]).prompt } }
                for call in calls {
                    do {
                        _ = try await call.value
                    } catch let error as BusError {
                        #expect(error == .limitsExceeded)
                        refused += 1
                    }
                }
            }
            #expect(refused == 1_000 - 64)
            #expect(try await service.unlock([item], as: service.client).paths == [item.rawValue])
            #expect(prompter.questions.count == 1)
            await hog.disconnect()
            #expect(try await !service.client.isItemLocked(item))
        }
    }

    @Test("the bytes kept by waiting prompts are limited")
    func promptsThatWaitToStore_keepSoManyBytes() async throws {
        try await RunningService.withPrompter([.cancel]) { service, _ in
            let client = service.client
            let session = try await client.openPlainSession()
            let properties = SecretServiceProxy.itemProperties(
                label: "",
                [Reserved.accessControl: "applicationPassword"]
            )
            let secret = WireSecret(session: session, value: [UInt8](repeating: 1, count: 9 << 20))
            let prompt = try await client.createItem(properties: properties, secret: secret).prompt
            await #expect(throws: BusError.limitsExceeded) {
                try await client.createItem(properties: properties, secret: secret)
            }
            try await client.dismiss(prompt)
            #expect(try await client.createItem(properties: properties, secret: secret).prompt != .root)
        }
    }

    @Test("two callers are asked one after the other, and each gets a grant")
    func twoCallersAtOnce_areAskedInTurn_andGrantedEach() async throws {
        try await RunningService.withPrompter { service, prompter in
            let session = try await service.client.openPlainSession()
            let item = try await service.client.createProtectedItem(session: session)
            var clients: [SecretServiceProxy] = []
            for _ in 0..<4 { clients.append(try await service.makeClient()) }
            let outcomes = clients.map { client in Task { try await service.unlock([item], as: client) } }
            for outcome in outcomes {
                #expect(try await outcome.value.paths == [item.rawValue])
            }
            #expect(prompter.questions.count == 4)
            #expect(try await service.client.isItemLocked(item))
        }
    }

    @Test("a dismissal that crosses the answer completes once, and matches the grant")
    func dismissal_crossingTheAnswer_completesOnce_andAgreesWithTheGrant() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let item = try await client.createProtectedItem(session: client.openPlainSession())
            for round in 0..<12 {
                let mark = prompter.questions.count
                let prompt = try await client.unlock([item]).prompt
                try await client.show(prompt)
                if round % 3 > 0 { _ = try await prompter.questions.first("the question", after: mark) }
                if round % 3 > 1 { try await client.roundTrip() }
                do throws(BusError) {
                    try await client.dismiss(prompt)
                } catch {
                    #expect(error == .unknownObject)
                }
                let outcome = try await client.completion(of: prompt)
                #expect(try await client.isItemLocked(item) == outcome.isDismissed)
                try await client.lock([item])
            }
            let completed = client.completions.map(\.path)
            #expect(completed.count == Set(completed).count)
        }
    }

    @Test("a daemon killed during a dialog releases nothing and keeps the item")
    func daemonKilled_duringADialog_releasesNothing_andKeepsTheItem() async throws {
        try await RunningService.withPrompter([.hang, .answer("password")]) { service, prompter in
            let client = service.client
            let item = try await client.createProtectedItem(
                "Bank",
                [:],
                "devicePasscode",
                session: client.openPlainSession()
            )
            try await client.show(client.unlock([item]).prompt)
            _ = try await prompter.questions.first("the question")
            try await service.daemon.kill()
            try await service.daemon.start()
            #expect(try await client.isItemLocked(item))
            #expect(try await service.unlock([item], as: client).paths == [item.rawValue])
            let session = try await client.openPlainSession()
            #expect(try await client.secretText(of: item, session: session) == "secret")
        }
    }

    @Test("a grant expires, and the caller gets a signal")
    func grant_endsByItself_andTheCallerIsTold() async throws {
        try await RunningService.withPrompter { service, _ in
            let client = service.client
            let item = try await client.createProtectedItem(session: client.openPlainSession())
            #expect(try await service.unlock([item], as: client).paths == [item.rawValue])
            try service.daemon.clock.pass(.seconds(9))
            #expect(try await !client.isItemLocked(item))
            try service.daemon.clock.pass(.seconds(1))
            try await client.roundTrip()
            try await client.waitForLockNotice(of: item, true)
            #expect(try await client.isItemLocked(item))
        }
    }

    @Test("too many wrong passcodes dismiss the prompt")
    func wrongPasscodes_endInADismissal() async throws {
        try await RunningService.withPrompter([.answer("wrong")]) { service, prompter in
            let client = service.client
            let item = try await client.createProtectedItem(session: client.openPlainSession())
            #expect(try await service.unlock([item], as: client).isDismissed)
            #expect(prompter.questions.count >= 5)
            #expect(prompter.questions.all.dropFirst().allSatisfy { $0.text("warning")?.isEmpty == false })
            #expect(try await client.isItemLocked(item))
        }
    }
}
