package import DBus

/// The dialog of an evaluation, in a caller's conversation with the person.
@BusActor
package final class ConversationDialog: EvaluationDialog {
    private let conversation: Conversation
    private let queue: PromptQueue
    private let words: EvaluationWords

    /// Asks in a conversation, which remains its owner's to end.
    package init(_ conversation: Conversation, in queue: PromptQueue, words: EvaluationWords) {
        self.conversation = conversation
        self.queue = queue
        self.words = words
    }

    package func isAvailable() async -> Bool {
        await queue.isAvailable(for: conversation.caller)
    }

    package func begin() async -> AuthenticationError? {
        do throws(PromptError) {
            if try await conversation.begin() { return nil }
            return AuthenticationError(conversation.withdrawal ?? .byProgram)
        } catch {
            return AuthenticationError(error)
        }
    }

    package func ask(
        _ question: EvaluationQuestion,
        whenShown: @escaping @BusActor () -> Void
    ) async -> EvaluationAnswer {
        do throws(PromptError) {
            switch try await conversation.ask(words.request(for: question), whenShown: whenShown) {
            case .password(let password): return .password(password)
            case .fallback: return .fallback
            case .cancelled: return .cancelled
            case .withdrawn: return .withdrawn
            case .confirmed:
                let reason = "the prompter has answered what was not asked"
                return .failed(AuthenticationError(.systemCancel, reason: reason))
            }
        } catch {
            if error.code == .notTrusted { return .untrusted(reason: error.reason) }
            return .failed(AuthenticationError(error))
        }
    }

    package func trust() async -> PrompterTrust { await conversation.trust() }

    package var trustOfAnswer: PrompterTrust { conversation.trustOfAnswer }

    package func revise(_ question: EvaluationQuestion) -> Bool {
        conversation.revise(
            words.request(for: question),
            keepingDialog: question.isAdvice && !question.passwords.isEmpty
        )
    }

    package func withdraw() {
        conversation.withdraw()
    }

    package func whenEnded(_ action: (@BusActor (AuthenticationError) -> Void)?) {
        guard let action else { return conversation.whenWithdrawn(nil) }
        conversation.whenWithdrawn { action(AuthenticationError($0)) }
    }

    package func holdTurn() {
        conversation.holdTurn()
    }

    package func releaseTurn() {
        conversation.releaseTurn()
    }
}
