import KeychaindAuthentication
import KeychaindDBus
import KeychaindTestSupport
import Logging
import Testing

@Suite(.lockedPool)
struct PrompterChainTests {
    @BusActor
    private final class StubPrompter: Prompter {
        let name: String
        var failure: PromptError?
        private(set) var openCount = 0
        private(set) var closeCount = 0
        let trust: PrompterTrust
        /// Expected in place of the trust that a dialog will have.
        var expectation: PrompterTrust?

        init(_ name: String, failingWith code: PromptError.Code? = nil, isTrusted: Bool = true) {
            self.name = name
            trust = isTrusted ? .trusted : .passwordsOnly(reason: "the test says so")
            failure = code.map { PromptError($0, reason: "\(name) has failed") }
        }

        func expectedTrust(for requester: any Requester) async -> PrompterTrust? {
            failure == nil ? expectation ?? trust : nil
        }

        func open(
            for requester: any Requester,
            asking question: PromptRequest.Question
        ) async throws(PromptError) -> any PromptDialog {
            openCount += 1
            if let failure { throw failure }
            return StubDialog(self)
        }

        func receiveClose() {
            closeCount += 1
        }
    }

    @BusActor
    private final class StubDialog: PromptDialog {
        private let stub: StubPrompter

        init(_ stub: StubPrompter) {
            self.stub = stub
        }

        var prompter: String { stub.name }

        func canAsk(_ question: PromptRequest.Question) -> Bool { true }

        func revise(_ request: PromptRequest) -> Bool { false }

        func ask(
            _ request: PromptRequest,
            whenShown: @escaping @BusActor () -> Void
        ) async throws(PromptError) -> PromptAnswer { .confirmed }

        func trust() async -> PrompterTrust { stub.trust }

        func close() { stub.receiveClose() }
    }

    /// The name of the prompter that opens a dialog; nil for none.
    @BusActor
    private func opener(_ chain: PrompterChain) async throws(PromptError) -> String? {
        (try await chain.open() as? StubDialog)?.prompter
    }

    private func onLoop(_ body: @BusActor () async throws -> Void) async throws {
        EventLoop.startThread()
        try await body()
    }

    @Test
    func open_severalAvailable_takesTheFirst() async throws {
        try await onLoop {
            let prompters = [StubPrompter("first"), StubPrompter("second")]
            let chain = PrompterChain(prompters, logger: .silent)
            let opener = try await opener(chain)
            #expect(opener == "first")
            #expect(prompters.map(\.openCount) == [1, 0])
            #expect(chain.name == "first, second")
        }
    }

    @Test
    func open_firstIsNotTrusted_takesATrustedOne() async throws {
        try await onLoop {
            let prompters = [
                StubPrompter("first", isTrusted: false), StubPrompter("second", failingWith: .unavailable),
                StubPrompter("third"),
            ]
            let opener = try await opener(PrompterChain(prompters, logger: .silent))
            #expect(opener == "third")
            #expect(prompters.map(\.openCount) == [0, 0, 1])
        }
    }

    @Test
    func open_noneIsTrusted_takesTheFirst() async throws {
        try await onLoop {
            let prompters = [
                StubPrompter("first", isTrusted: false), StubPrompter("second", isTrusted: false),
                StubPrompter("third", isTrusted: false),
            ]
            // A program that turns out to be changed.
            prompters[2].expectation = .trusted
            let opener = try await opener(PrompterChain(prompters, logger: .silent))
            #expect(opener == "first")
            #expect(prompters.map(\.openCount) == [1, 0, 1])
            #expect(prompters.map(\.closeCount) == [0, 0, 1])
        }
    }

    @Test(arguments: [PromptError.Code.unavailable, .crashed, .timedOut, .failed])
    func open_firstCannot_takesTheNext(code: PromptError.Code) async throws {
        try await onLoop {
            let lines = Recorder<LogRecorder.Line>()
            let prompters = [StubPrompter("first", failingWith: code), StubPrompter("second")]
            let opener = try await opener(PrompterChain(prompters, logger: Logger(recordingTo: lines)))
            #expect(opener == "second")
            #expect(lines.all.filter { $0.level >= .info }.isEmpty)
        }
    }

    @Test
    func open_firstComesBack_isTakenAgain() async throws {
        try await onLoop {
            let first = StubPrompter("first", failingWith: .unavailable)
            let chain = PrompterChain([first, StubPrompter("second")], logger: .silent)
            let before = try await opener(chain)
            first.failure = nil
            let after = try await opener(chain)
            #expect([before, after] == ["second", "first"])
        }
    }

    @Test
    func expectedTrust_isTheBest() async throws {
        try await onLoop {
            let missing = StubPrompter("missing", failingWith: .unavailable)
            let there = StubPrompter("there")
            let other = StubPrompter("other", isTrusted: false)
            let lists: [([StubPrompter], PrompterTrust?)] = [
                ([], nil), ([missing], nil), ([missing, other], other.trust), ([other, there], .trusted),
            ]
            for (prompters, expected) in lists {
                let chain = PrompterChain(prompters, logger: .silent)
                #expect(await chain.expectedTrust(for: TestRequester(":1.1")) == expected)
            }
            #expect([missing.openCount, there.openCount] == [0, 0])
        }
    }

    @Test
    func open_none_isUnavailable() async throws {
        try await onLoop {
            let chains = [
                PrompterChain([], logger: .silent),
                PrompterChain([StubPrompter("only", failingWith: .unavailable)], logger: .silent),
            ]
            for chain in chains {
                await #expect(throws: PromptError(.unavailable, reason: "")) { try await opener(chain) }
            }
        }
    }

    @Test
    func open_oneFailsAndOthersAreMissing_throwsItsError() async throws {
        try await onLoop {
            let chain = PrompterChain(
                [
                    StubPrompter("missing", failingWith: .unavailable), StubPrompter("hanging", failingWith: .timedOut),
                    StubPrompter("missing too", failingWith: .unavailable),
                ],
                logger: .silent
            )
            await #expect(throws: PromptError(.timedOut, reason: "")) { try await opener(chain) }
        }
    }

    @Test
    func open_noneAgainAndAgain_saysOnceWhatToDo() async throws {
        try await onLoop {
            let lines = Recorder<LogRecorder.Line>()
            let prompter = StubPrompter("only", failingWith: .unavailable)
            let chain = PrompterChain([prompter], logger: Logger(recordingTo: lines))
            for _ in 0..<3 {
                _ = try? await opener(chain)
            }
            let warnings = lines.all.filter { $0.level == .warning }
            #expect(warnings.count == 1)
            for word in ["gcr", "DISPLAY", "keychaind --unlock", "only has failed"] {
                #expect(warnings.first?.text.contains(word) == true)
            }

            prompter.failure = nil
            _ = try await opener(chain)
            prompter.failure = PromptError(.unavailable, reason: "gone again")
            _ = try? await opener(chain)
            #expect(lines.all.filter { $0.level == .warning }.count == 2)
        }
    }
}
