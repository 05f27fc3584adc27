import Foundation
import KeychaindDBus
import KeychaindSecretService
import KeychaindTestSupport
import KeychaindVault
import Testing

/// The end of a context's authentication, and authentications that are never kept.
struct ProofEndTests {
    /// Two items that need a dialog each; the passcode unlocks both.
    private static let policies = ["devicePasscode", "userPresence"]

    private func createItems(_ client: SecretServiceProxy) async throws -> [ObjectPath] {
        let session = try await client.openPlainSession()
        var items: [ObjectPath] = []
        for policy in Self.policies {
            items.append(try await client.createProtectedItem(policy, ["n": policy], policy, session: session))
        }
        return items
    }

    /// Creates a context with a reuse time of five minutes.
    private func makeContext(_ client: SecretServiceProxy) async throws -> ContextClient {
        let context = try await ContextClient(client)
        try await context.set("ReuseDuration", to: .uint32(300_000))
        return context
    }

    @Test("a screen lock between two dialogs ends the first one's authentication")
    func screenLock_betweenTwoDialogs_endsWhatTheFirstHasProved() async throws {
        let logind = try await FakeLogind()
        try await logind.setDisplay(logind.session)
        var options = KeychainDaemon.Options()
        options.environment = logind.environment
        try await RunningService.withService(options) { service in
            let prompter = try await FakePrompter(on: service.bus, [.answer("password"), .hang])
            let client = service.client
            let items = try await createItems(client)
            let session = try await client.openPlainSession()
            let shy = try await client.createItem("shy", [Reserved.accessible: "whenUnlocked"], session: session)
            let context = try await makeContext(client)
            let prompt = try await context.unlock(items).prompt
            try await client.show(prompt)
            _ = try await prompter.questions.first("the second question") { $0.names("userPresence") }
            try await logind.setLockedHint(true)
            _ = try await client.completion(of: prompt)
            #expect(try await context.failure() == "org.keychaind.Error.SystemCancel")
            try await logind.setLockedHint(false)
            try await client.waitForLockNotice(of: shy, false)
            #expect(try await context.unlock(items).unlocked.isEmpty)
            await prompter.crash()
        }
    }

    @Test("a screen lock while an authorised change is written ends the rest of the authorisation", .onLoop)
    @BusActor
    func screenLock_duringAChange_endsWhatIsLeftOfItsAuthorization() async throws {
        let service = try await ProviderInProcess()
        let prompter = try FakePrompter(on: service.bus, [.answer(ProviderInProcess.password)])
        let client = service.client
        #expect(try await !client.complete(try await client.unlock([.login]).prompt).isDismissed)
        let session = try await client.openPlainSession()
        let item = try await client.createProtectedItem(session: session)
        for isLocked in [false, true] {
            let context = try await ContextClient(client)
            _ = try await client.complete(try await context.authorize("change", [item]).prompt)
            let admission = service.vault.admission
            service.vault.admission = AdmissionWithEvent {
                for state in isLocked ? [true, false] : [] { service.provider.setSessionLocked(state) }
            }
            try await client.setSecret(WireSecret(session: session, value: Array("new".utf8)), of: item)
            service.vault.admission = admission
            let label = Variant.string("Bank, \(isLocked)")
            if isLocked {
                await #expect(throws: BusError.isLocked) {
                    try await client.setProperty("Label", of: item, Interface.item, to: label)
                }
            } else {
                try await client.setProperty("Label", of: item, Interface.item, to: label)
            }
        }
        prompter.crash()
    }

    @Test("locking another item leaves what a change has left of an authorisation")
    func lockOfAnotherItem_leavesTheRestOfAnAuthorization() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let items = try await createItems(client)
            let session = try await client.openPlainSession()
            let context = try await ContextClient(client)
            _ = try await client.complete(try await context.authorize("change", [items[0]]).prompt)
            try await client.lock([items[1]])
            try await client.setSecret(WireSecret(session: session, value: Array("new".utf8)), of: items[0])
            try await client.setProperty("Label", of: items[0], Interface.item, to: .string("Bank"))
        }
    }

    @Test("a dismissed second dialog keeps the first one's authentication")
    func dismissal_betweenTwoDialogs_keepsWhatTheFirstHasProved_fromThenOn() async throws {
        try await RunningService.withPrompter([.answer("password"), .hang]) { service, prompter in
            let client = service.client
            let items = try await createItems(client)
            let context = try await makeContext(client)
            let prompt = try await context.unlock(items).prompt
            try await client.show(prompt)
            _ = try await prompter.questions.first("the second question") { $0.names("userPresence") }
            try await client.dismiss(prompt)
            #expect(try await client.completion(of: prompt).paths == [items[0].rawValue])
            #expect(try await context.failure() == "org.keychaind.Error.AppCancel")
            // The user read in the first dialog what it permits.
            #expect(try await context.unlock(items).unlocked == items)
        }
    }

    @Test("locking login ends the authentication")
    func lockOfLogin_endsIt() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let items = try await createItems(client)
            let context = try await makeContext(client)
            try await context.evaluate()
            // Another program locks the keychain, and a third one has it unlocked.
            try await service.makeClient().lock([.login])
            _ = try await service.unlock([.login], as: service.makeClient())
            #expect(try await context.unlock(items).unlocked.isEmpty)
        }
    }

    @Test("locking another keychain keeps the authentication")
    func lockOfAnotherKeychain_leavesIt() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let items = try await createItems(client)
            let session = try await client.openPlainSession()
            let other = try await client.createWithMasterPassword([:], .password("other", session))
            let context = try await makeContext(client)
            try await context.evaluate()
            try await client.lock([other])
            #expect(try await context.unlock(items).unlocked == items)
        }
    }

    @Test("changing the password ends the authentication")
    func changeOfThePassword_endsIt() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let items = try await createItems(client)
            let session = try await client.openPlainSession()
            let context = try await makeContext(client)
            try await context.evaluate()
            try await client.changeWithMasterPassword(
                .login,
                from: .password("password", session),
                to: .password("new", session)
            )
            #expect(try await context.unlock(items).unlocked.isEmpty)
        }
    }

    @Test("without reuse, an unlock covers only its own items")
    func withoutReuse_anUnlockServesItsOwnItemsAlone() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let items = try await createItems(client)
            let context = try await makeContext(client)
            try await context.set("ReuseDuration", to: .uint32(0))
            let prompt = try await context.unlock([items[0]]).prompt
            #expect(try await client.complete(prompt).paths == [items[0].rawValue])
            #expect(try await context.unlock([items[1]]).unlocked.isEmpty)
        }
    }

    @Test("a longer reuse time set after the dialog has no effect")
    func longerReuse_setAfterTheDialog_changesNothing() async throws {
        try await RunningService.withPrompter { service, prompter in
            let client = service.client
            let items = try await createItems(client)
            let context = try await makeContext(client)
            try await context.set("ReuseDuration", to: .uint32(0))
            try await context.evaluate()
            #expect(prompter.questions.all.first?.text("message")?.hasSuffix(", once") == true)
            try await context.set("ReuseDuration", to: .uint32(300_000))
            #expect(try await context.unlock([items[0]]).unlocked == [items[0]])
            let session = try await client.openPlainSession()
            #expect(try await client.secretText(of: items[0], session: session) == "secret")
            #expect(try await client.isItemLocked(items[0]))
            #expect(try await context.unlock([items[1]]).unlocked.isEmpty)
        }
    }
}

extension PromptQuestion {
    /// Whether the headline names the item.
    fileprivate func names(_ label: String) -> Bool {
        text("message")?.contains("“\(label)”") == true
    }
}
