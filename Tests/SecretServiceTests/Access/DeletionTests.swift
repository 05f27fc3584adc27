import DBus
import TestSupport
import Testing

/// What is lost with a collection is said before it is.
struct DeletionTests {
    @Test func collection_withProtectedItems_isDeletedAfterAConfirmation() async throws {
        try await RunningService.withPrompter([.cancel, .answer("")]) { service, prompter in
            let client = service.client
            _ = try await client.createProtectedItem(session: client.openPlainSession())
            #expect(try await client.complete(client.deleteCollection(.login)).isDismissed)
            #expect(prompter.questions.all.first?.type == "confirm")
            #expect(try await client.items(of: .login).count == 1)
            let outcome = try await client.complete(client.deleteCollection(.login))
            #expect(outcome == PromptOutcome(isDismissed: false, result: .string("")))
            #expect(try await client.items(of: .login).isEmpty)
        }
    }

    @Test func itemsThatNeedAPasscode_goWithLogin_andAreNamedBefore() async throws {
        try await RunningService.withPrompter([.answer("")]) { service, prompter in
            let client = service.client
            let session = try await client.openPlainSession()
            let attributes = [Reserved.accessible: "whenPasscodeSetThisDeviceOnly"]
            _ = try await client.createItem("In login", attributes, session: session)
            _ = try await client.createItem(in: .sessionCollection, "In memory", attributes, session: session)
            let plain = try await client.createItem(in: .sessionCollection, "plain", session: session)
            let outcome = try await client.complete(client.deleteCollection(.login))
            #expect(!outcome.isDismissed)
            let text = try #require(prompter.questions.all.first?.text("description"))
            #expect(text.contains("In login") && text.contains("In memory"))
            #expect(try await client.items(of: .sessionCollection) == [plain])
            await #expect(throws: BusError.authentication("PasscodeNotSet")) {
                try await client.createItem(in: .sessionCollection, "late", attributes, session: session)
            }
        }
    }
}
