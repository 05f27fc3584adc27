import KeychaindDBus
import Logging

extension Conversation {
    /// A question that waits for its answer.
    struct Asking {
        var request: PromptRequest
        let whenShown: @BusActor () -> Void
        /// Whether the dialog was closed to show a revised question.
        var isRevised = false
        var isWithdrawn = false
    }

    /// Asks a question, and waits for the answer.
    ///
    /// A cancellation or failure ends the conversation and answers all further questions. Failures are logged here.
    ///
    /// Questions that a touch or a click can answer throw ``PromptError/Code/notTrusted`` without a trusted dialog. A
    /// question for the password alone may follow.
    ///
    /// - Parameters:
    ///   - keepsOpenWithoutTrust: lets a question for the password follow a confirmation that was not trusted.
    ///   - whenShown: called for each dialog when the prompter has taken the question.
    package func ask(
        _ request: PromptRequest,
        keepsOpenWithoutTrust: Bool = false,
        whenShown: @escaping @BusActor () -> Void = {}
    ) async throws(PromptError) -> PromptAnswer {
        guard asking == nil else {
            throw PromptError(.failed, reason: "the conversation has a question already")
        }
        switch state {
        case .ended(.cancelled): return .cancelled
        case .ended(.cancelledOutside): return .withdrawn
        case .ended(.failed(let error)): throw error
        case .new, .queued, .opening, .open: break
        }
        hasChosen = false
        asking = Asking(request: request, whenShown: whenShown)
        defer { asking = nil }
        do throws(PromptError) {
            return try await answer()
        } catch {
            queue.report(error)
            let isLast = request.question == .confirmation && !keepsOpenWithoutTrust
            if error.code != .notTrusted || isLast { end(.failed(error)) }
            throw error
        }
    }

    /// Asks until the latest revision of the question is answered.
    private func answer() async throws(PromptError) -> PromptAnswer {
        while true {
            guard try await begin(), let request = asking?.request else { return .withdrawn }
            asking?.isRevised = false
            guard !isWithdrawn, let dialog = try await openDialog(for: request.question) else { return .withdrawn }
            trustOfAnswer = await dialog.trust()
            if isEnded || isWithdrawn { return .withdrawn }
            // A revision may have closed the dialog.
            var latest = asking?.request ?? request
            guard asking?.isRevised == false, dialog.canAsk(latest.question) else { continue }
            if latest.needsTrust { try Conversation.check(trustOfAnswer) }
            // It would count for nothing.
            if trustOfAnswer.objection != nil { latest.choice = nil }
            let answer = try await dialog.ask(latest) { [weak self] in self?.receiveShown() }
            if isEnded || isWithdrawn { return .withdrawn }
            switch consume answer {
            case .password(let password):
                if dialog.hasChosen {
                    trustOfAnswer = await dialog.trust()
                    hasChosen = trustOfAnswer.objection == nil
                }
                return isEnded || isWithdrawn ? .withdrawn : .password(password)
            case .confirmed:
                try await checkAgain(dialog)
                hasChosen = dialog.hasChosen
                return isEnded || isWithdrawn ? .withdrawn : .confirmed
            case .fallback:
                try await checkAgain(dialog)
                return isEnded || isWithdrawn ? .withdrawn : .fallback
            case .cancelled:
                end(.cancelled)
                return .cancelled
            case .withdrawn:
                guard asking?.isRevised == true else { return .withdrawn }
            }
        }
    }

    /// Checks trust again, as the program behind the dialog may have changed since.
    private func checkAgain(_ dialog: any PromptDialog) async throws(PromptError) {
        trustOfAnswer = await dialog.trust()
        if !isEnded, !isWithdrawn { try Conversation.check(trustOfAnswer) }
    }

    private static func check(_ trust: PrompterTrust) throws(PromptError) {
        guard let objection = trust.objection else { return }
        throw PromptError(.notTrusted, reason: "the prompter is not trusted: \(objection)")
    }

    private func receiveShown() {
        asking?.whenShown()
    }
}
