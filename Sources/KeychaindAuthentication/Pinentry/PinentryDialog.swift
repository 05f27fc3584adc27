import KeychaindDBus
import KeychaindGcrypt
import Logging

/// A dialog of one pinentry process, with a window per question.
@BusActor
final class PinentryDialog: PromptDialog {
    private enum State {
        case ready
        case asking
        /// The outcome of every further question.
        case ended(Ending)
    }

    private enum Ending {
        case cancelled
        case withdrawn
        case failed(PromptError)
    }

    private enum Button {
        case ok
        case notOK
        case cancel
    }

    /// Codes of libgpg-error.
    private enum Code {
        static let timeout: UInt32 = 62
        static let canceled: UInt32 = 99
        static let notConfirmed: UInt32 = 114
        static let fullyCanceled: UInt32 = 198
    }

    /// The number of tries to enter a new password twice if the pinentry does not compare.
    private static let repetitionLimit = 5

    private let channel: PinentryChannel
    private let judge: @BusActor () async -> PrompterTrust
    private let layout: PinentryLayout
    private let timeout: Duration
    private let grace: Duration
    private let commandTimeout: Duration
    private let logger: Logger
    private let onEnd: @BusActor () -> Void
    private var state = State.ready
    private(set) var hasChosen = false
    /// Only keychaind's own dialog says so.
    private(set) var isActive = true
    /// The settings of the question on the screen.
    private var shown: [AssuanCommand] = []

    /// - Parameters:
    ///   - trust: judges the program.
    ///   - layout: how the program shows texts.
    ///   - timeout: the time limit of a question.
    ///   - grace: the extra time for the pinentry to report its timeout.
    ///   - commandTimeout: the time limit of a command without a person.
    ///   - onEnd: called once, when the dialog is closed for good.
    init(
        _ channel: PinentryChannel,
        trust: @escaping @BusActor () async -> PrompterTrust,
        layout: PinentryLayout,
        timeout: Duration,
        grace: Duration,
        commandTimeout: Duration,
        logger: Logger,
        onEnd: @escaping @BusActor () -> Void
    ) {
        self.channel = channel
        judge = trust
        self.layout = layout
        self.timeout = timeout
        self.grace = grace
        self.commandTimeout = commandTimeout
        self.logger = logger
        self.onEnd = onEnd
    }

    isolated deinit {
        close()
    }

    func canAsk(_ question: PromptRequest.Question) -> Bool { true }

    func ask(
        _ request: PromptRequest,
        whenShown: @escaping @BusActor () -> Void
    ) async throws(PromptError) -> PromptAnswer {
        switch state {
        case .ready:
            state = .asking
            hasChosen = false
        case .asking: throw PromptError(.failed, reason: "the dialog is already asking a question")
        case .ended(.cancelled): return .cancelled
        case .ended(.withdrawn): return .withdrawn
        case .ended(.failed(let error)): throw error
        }
        do throws(PromptError) {
            switch try await answer(request, whenShown) {
            case .cancelled:
                end(.cancelled)
                return .cancelled
            case .withdrawn:
                end(.withdrawn)
                return .withdrawn
            case let answer:
                if case .asking = state { state = .ready }
                return answer
            }
        } catch {
            logger.notice("prompt failed", metadata: ["error": "\(error)"])
            end(.failed(error))
            throw error
        }
    }

    /// Changes keychaind's own dialog; another pinentry reads nothing while it asks.
    func revise(_ request: PromptRequest) -> Bool {
        guard layout.isOwn, case .asking = state else { return false }
        let new = question(request).settings
        for setting in new where !shown.contains(setting) { channel.post(setting) }
        shown = new
        return true
    }

    /// The current trust in the program.
    func trust() async -> PrompterTrust { await judge() }

    func close() {
        end(.withdrawn)
    }

    private func end(_ ending: Ending) {
        if case .ended = state { return }
        state = .ended(ending)
        channel.close()
        onEnd()
    }

    // MARK: Asking

    private func answer(
        _ request: PromptRequest,
        _ whenShown: @escaping @BusActor () -> Void
    ) async throws(PromptError) -> PromptAnswer {
        if request.question == .newPassword { return try await newPassword(request, whenShown) }
        switch (try await press(question(request), whenShown), request.question) {
        case (.ok, .password), (.ok, .newPassword):
            hasChosen = channel.statuses.contains("CHOSEN")
            return .password(try takePassword())
        case (.ok, .confirmation):
            hasChosen = channel.statuses.contains("CHOSEN")
            return .confirmed
        // The only button cancels.
        case (.ok, .waiting): return request.fallbackLabel.isEmpty ? .cancelled : .fallback
        case (.notOK, .confirmation) where request.choice != nil:
            hasChosen = true
            return .confirmed
        case (.notOK, _), (.cancel, _): return .cancelled
        case (.none, _): return .withdrawn
        }
    }

    /// Asks in one window if the pinentry can repeat the field, else in two.
    private func newPassword(
        _ request: PromptRequest,
        _ whenShown: @escaping @BusActor () -> Void
    ) async throws(PromptError) -> PromptAnswer {
        var warning: String?
        for _ in 0..<PinentryDialog.repetitionLimit {
            let first = try await press(question(request, warning: warning), whenShown)
            guard first == .ok else { return first == nil ? .withdrawn : .cancelled }
            let isRepeated = channel.statuses.contains("PIN_REPEATED")
            let password = try takePassword()
            if isRepeated { return .password(password) }
            let second = try await press(question(request, isRepetition: true, warning: "")) {}
            guard second == .ok else { return second == nil ? .withdrawn : .cancelled }
            if password.isEqual(to: try takePassword()) { return .password(password) }
            warning = request.string(PinentryQuestion.mismatch)
        }
        throw PromptError(.failed, reason: "the two entries of the new password never matched")
    }

    private func question(
        _ request: PromptRequest,
        isRepetition: Bool = false,
        warning: String? = nil
    ) -> PinentryQuestion {
        // The pinentry closes its window cleanly at its own timeout, in whole seconds; zero means no limit.
        let seconds = max(1, timeout.components.seconds)
        return PinentryQuestion(
            request,
            layout: layout,
            isRepetition: isRepetition,
            warning: warning,
            timeout: seconds
        )
    }

    /// Sends the settings and asks; nil if the dialog was closed.
    private func press(
        _ question: PinentryQuestion,
        _ whenShown: @escaping @BusActor () -> Void
    ) async throws(PromptError) -> Button? {
        shown = question.settings
        for setting in shown {
            // A pinentry may lack any setting.
            guard try await channel.transact(setting, within: commandTimeout) != .closed else { return nil }
        }
        var isShown = !layout.isOwn
        if layout.isOwn {
            isActive = false
            channel.onStatus = { [weak self] status in
                switch status {
                case "SHOWN":
                    isShown = true
                    whenShown()
                case "ACTIVE": self?.isActive = true
                case "INACTIVE": self?.isActive = false
                default: break
                }
            }
        } else {
            // Others send nothing before the answer.
            whenShown()
        }
        defer { channel.onStatus = nil }
        switch try await channel.transact(question.command, within: timeout + grace) {
        case .success where !isShown: throw PromptError(.failed, reason: "it was answered before it was shown")
        case .success: return .ok
        case .closed: return nil
        case .failure(Code.canceled), .failure(Code.fullyCanceled): return .cancel
        case .failure(Code.notConfirmed): return .notOK
        case .failure(Code.timeout): throw PromptError(.timedOut, reason: "nobody answered in time")
        case .failure(let code): throw PromptError(.failed, reason: "the pinentry failed with error \(code)")
        }
    }

    private func takePassword() throws(PromptError) -> SecureBytes {
        do throws(GcryptError) {
            return try channel.takeData()
        } catch {
            throw PromptError(.failed, reason: "cannot allocate secure memory for a password: \(error.reason)")
        }
    }
}
