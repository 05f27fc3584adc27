import KeychaindAuthentication
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// Checks of the sender and content of callbacks.
@Suite(.lockedPool)
struct GCRCallbackTests {
    private static let interface = "org.gnome.keyring.internal.Prompter.Callback"

    @BusActor
    private func makeReady(to fixture: PrompterFixture, at path: ObjectPath, _ reply: String) -> Message {
        let message = Message.call(to: fixture.connection.uniqueName, path, GCRCallbackTests.interface, "PromptReady")
        message.append(reply, [String: Variant](), "[sx-aes-1]\npublic=Ag==\n")
        return message
    }

    @BusActor
    private func error(of message: Message, from caller: Connection) async -> BusError? {
        do throws(BusError) {
            _ = try await caller.call(message)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: ["", "yes", "no"])
    func ready_fromStranger_isAsIfThereWereNothing(reply: String) async throws {
        try await PrompterFixture.run([.hang]) { fixture in
            let stranger = try fixture.bus.connect()
            defer { stranger.close() }
            let dialog = try await fixture.prompter.open()
            let answer = Task.immediate { @BusActor in try await dialog.answer(.confirm) }
            let question = try await fixture.fake.questions.first("the question")

            let nowhere = ObjectPath(unchecked: question.callback.rawValue + "0")
            let missing = await error(of: makeReady(to: fixture, at: nowhere, reply), from: stranger)
            let refusal = await error(of: makeReady(to: fixture, at: question.callback, reply), from: stranger)
            #expect(refusal != nil)
            #expect(refusal == missing)

            // The question is still pending.
            fixture.fake.say("yes", exchange: "[sx-aes-1]\npublic=Ag==\n", to: question)
            #expect(try await answer.value == .confirmed)
        }
    }

    @Test
    func done_fromStranger_changesNothing() async throws {
        try await PrompterFixture.run([.answer("password")]) { fixture in
            let stranger = try fixture.bus.connect()
            defer { stranger.close() }
            let dialog = try await fixture.prompter.open()
            _ = try await dialog.answer(.unlock)
            let path = try await fixture.fake.questions.first("the question").callback
            let done = Message.call(
                to: fixture.connection.uniqueName,
                path,
                GCRCallbackTests.interface,
                "PromptDone"
            )
            #expect(await error(of: done, from: stranger) != nil)
            #expect(try await dialog.answer(.unlock) == .password("password"))
        }
    }

    @Test
    func ready_wrongArguments_isInvalid() async throws {
        try await PrompterFixture.run([.hang]) { fixture in
            let dialog = try await fixture.prompter.open()
            let answer = Task.immediate { @BusActor in try await dialog.answer(.confirm) }
            let question = try await fixture.fake.questions.first("the question")
            let replies = Recorder<BusError?>()
            for body in [{ _ in }, { $0.append("yes") }, { $0.append("yes", "", "") }] as [(Message) -> Void] {
                let message = Message.call(
                    to: fixture.connection.uniqueName,
                    question.callback,
                    GCRCallbackTests.interface,
                    "PromptReady"
                )
                body(message)
                replies.record(await fixture.fake.error(of: message))
            }
            #expect(replies.all == [BusError?](repeating: BusError(.invalidArguments, ""), count: 3))
            fixture.fake.say("no", exchange: "", to: question)
            #expect(try await answer.value == .cancelled)
        }
    }

    @Test
    func withdrawal_dialogIsOver_takesTheObjectAway() async throws {
        try await PrompterFixture.run([.withdraw]) { fixture in
            let dialog = try await fixture.prompter.open()
            await #expect(throws: PromptError(.interrupted, reason: "")) { _ = try await dialog.answer(.unlock) }
            let path = try await fixture.fake.questions.first("the question").callback
            let message = makeReady(to: fixture, at: path, "yes")
            #expect(await fixture.fake.error(of: message) == BusError(.unknownMethod, ""))
        }
    }
}
