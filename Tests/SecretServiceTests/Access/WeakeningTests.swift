import KeychaindDBus
import KeychaindTestSupport
import Testing

/// A client cannot remove or bypass an access control without the authentication that reading needs.
struct WeakeningTests {
    @Test("Delete needs a prompt, with and without a grant", arguments: [false, true])
    func delete_needsAPrompt(isGranted: Bool) async throws {
        let answers: [PromptResponse] = [.cancel, .answer("password")]
        try await RunningService.withPrompter((isGranted ? [.answer("password")] : []) + answers) { service, prompter in
            let client = service.client
            let item = try await client.createProtectedItem(session: client.openPlainSession())
            if isGranted { _ = try await service.unlock([item], as: client) }
            let dismissed = try await client.complete(client.deleteItem(item))
            #expect(dismissed == PromptOutcome(isDismissed: true, result: .string("")))
            #expect(try await client.items(of: .login) == [item])
            let done = try await client.complete(client.deleteItem(item))
            #expect(done == PromptOutcome(isDismissed: false, result: .string("")))
            #expect(try await client.items(of: .login).isEmpty)
            #expect(prompter.questions.all.last?.text("message")?.contains("delete “Bank”") == true)
        }
    }

    @Test("a replacement without a grant needs a prompt and keeps the protection")
    func replace_withoutGrant_needsAPrompt_andKeepsTheProtection() async throws {
        try await RunningService.withPrompter([.cancel, .answer("password")]) { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createProtectedItem(session: session)
            let properties = SecretServiceProxy.itemProperties(label: "New", ["service": "bank"])
            let secret = WireSecret(session: session, value: Array("new".utf8))
            func replace() async throws -> PromptOutcome {
                let (made, prompt) = try await client.createItem(properties: properties, secret: secret, replace: true)
                #expect(made == .root && prompt != .root)
                return try await client.complete(prompt)
            }
            #expect(try await replace() == PromptOutcome(isDismissed: true, result: .objectPath(.root)))
            #expect(try await client.label(of: item) == "Bank")
            #expect(try await replace() == PromptOutcome(isDismissed: false, result: .objectPath(item)))
            #expect(try await client.label(of: item) == "New")
            #expect(try await client.attributes(of: item)[Reserved.accessControl] == "userPresence")
            let other = try await service.makeClient()
            let otherSession = try await other.openPlainSession()
            await #expect(throws: BusError.isLocked) { try await other.secret(of: item, session: otherSession) }
            // Replacing it does not permit reading it.
            await #expect(throws: BusError.isLocked) { try await client.secret(of: item, session: session) }
            _ = try await service.unlock([item], as: client)
            #expect(try await client.secretText(of: item, session: session) == "new")
        }
    }

    @Test("a replacement with an access control keeps the accessibility")
    func replace_namingTheAccessControl_keepsTheAccessibility() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let stays = [Reserved.accessible: "whenUnlockedThisDeviceOnly"]
            let item = try await client.createProtectedItem(
                "Bank",
                stays.merging(["service": "bank"]) { $1 },
                session: session
            )
            let attributes = ["service": "bank", Reserved.accessControl: "devicePasscode"]
            func replace(_ extra: [String: String] = [:]) async throws -> (item: ObjectPath, prompt: ObjectPath) {
                try await client.createItem(
                    properties: SecretServiceProxy.itemProperties(label: "New", attributes.merging(extra) { $1 }),
                    secret: WireSecret(session: session, value: []),
                    replace: true
                )
            }
            // The kept and the new attributes contradict each other: no dialog is shown.
            await #expect(throws: BusError.invalidArgs) { try await replace(["keychain:synchronizable": "true"]) }
            #expect(try await client.complete(replace().prompt).path == item)
            #expect(try await client.attributes(of: item) == attributes.merging(stays) { $1 })
            #expect(prompter.questions.count == 1)
        }
    }

    @Test("a replacement with another access control needs the old one")
    func replace_byAnotherAccessControl_needsTheOldOne() async throws {
        try await RunningService.withPrompter([.cancel]) { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createProtectedItem(
                "Bank",
                ["service": "bank"],
                "devicePasscode",
                session: session
            )
            let reply = try await client.createItem(
                properties: SecretServiceProxy.itemProperties(
                    label: "New",
                    ["service": "bank", Reserved.accessControl: "userPresence"]
                ),
                secret: WireSecret(session: session, value: []),
                replace: true
            )
            #expect(try await client.complete(reply.prompt).isDismissed)
            #expect(try await client.attributes(of: item)[Reserved.accessControl] == "devicePasscode")
        }
    }

    @Test("omitting reserved attributes does not bypass the protection")
    func attributes_withoutTheReservedOnes_doNotReplaceUnseen() async throws {
        // Equality ignores reserved names, so adding or omitting one does not bypass the item.
        try await RunningService.withPrompter([.cancel]) { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            _ = try await client.createProtectedItem(session: session)
            for extra in [[:], [Reserved.accessible: "always"], ["keychain:class": "x"]] {
                let (item, prompt) = try await client.createItem(
                    properties: SecretServiceProxy.itemProperties(label: "", extra.merging(["service": "bank"]) { $1 }),
                    secret: WireSecret(session: session, value: []),
                    replace: true
                )
                #expect(item == .root && prompt != .root)
                try await client.dismiss(prompt)
            }
            #expect(try await client.items(of: .login).count == 1)
        }
    }

    @Test("a forged Completed unlocks nothing")
    func forgedCompleted_releasesNothing() async throws {
        try await RunningService.withPrompter([.hang]) { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let item = try await client.createProtectedItem(session: session)
            let prompt = try await client.unlock([item]).prompt
            try await client.show(prompt)
            _ = try await prompter.questions.first("the question")
            let other = try await service.makeClient()
            for connection in await [other.connection, client.connection] {
                let forged = Message.signal(prompt, Interface.prompt, "Completed", to: KeychainDaemon.busName)
                forged.append(false, Variant.objectPaths([item]))
                await connection.send(forged)
            }
            try await other.roundTrip()
            try await client.roundTrip()
            await #expect(throws: BusError.isLocked) { try await client.secret(of: item, session: session) }
            try await client.dismiss(prompt)
            #expect(try await client.completion(of: prompt).isDismissed)
        }
    }
}
