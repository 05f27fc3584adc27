import KeychaindDBus
import KeychaindGcrypt

/// The Assuan connection to a pinentry: one command at a time.
@BusActor
final class PinentryChannel {
    enum Reply: Hashable, Sendable {
        case success
        /// The code of libgpg-error, without the error source.
        case failure(code: UInt32)
        /// ``PinentryChannel/close()`` came before the answer.
        case closed
    }

    private enum State {
        /// The greeting is not expected yet; nothing is read.
        case new
        /// No input is expected.
        case idle
        case waiting(CheckedContinuation<Outcome, Never>, deadline: Timer)
        case ended(Outcome)
    }

    private typealias Outcome = Result<Reply, PromptError>

    /// The limit in bytes.
    private static let dataLimit = 4096
    /// The limit before the escapes of the last line are decoded.
    private static let escapedLimit = dataLimit + AssuanCommand.lineLimit
    /// The limit of lines per command, against endless comments.
    private static let lineCountLimit = 1000

    private let process: PinentryProcess
    private var input: AssuanInput
    private var state = State.new
    private var lineCount = 0
    private var data: SecureBytes?
    private var dataCount = 0

    /// The keywords of the last answer's status lines.
    private(set) var statuses: Set<String> = []

    /// Called for each status line, before the answer.
    var onStatus: (@BusActor (String) -> Void)?

    init(_ process: PinentryProcess) throws(PromptError) {
        self.process = process
        do throws(GcryptError) {
            input = try AssuanInput()
        } catch {
            process.end()
            throw PromptError(.failed, reason: "cannot allocate secure memory for a password: \(error.reason)")
        }
        process.onEnd = { [weak self] in
            // Its last output may be unread.
            self?.receive()
            // A child may keep the output open.
            self?.end(.failure(PromptError(.crashed, reason: "the pinentry exited")))
        }
    }

    /// Sends a command and waits for its answer; without a command, waits for the greeting.
    func transact(_ command: AssuanCommand?, within limit: Duration) async throws(PromptError) -> Reply {
        try await withCheckedContinuation { continuation in
            switch state {
            case .ended(let outcome):
                return continuation.resume(returning: outcome)
            case .waiting:
                let error = PromptError(.failed, reason: "the pinentry is already running a command")
                return continuation.resume(returning: .failure(error))
            case .new:
                process.onReadable { [weak self] in self?.receive() }
            case .idle:
                break
            }
            let deadline = BusActor.loop.schedule(after: limit) { [weak self] in
                self?.end(.failure(PromptError(.timedOut, reason: "the pinentry does not answer")))
            }
            state = .waiting(continuation, deadline: deadline)
            data = nil
            (dataCount, statuses, lineCount) = (0, [], 0)
            if let command, !process.send(command) {
                end(.failure(PromptError(.crashed, reason: "the pinentry does not read its input")))
            }
        }.get()
    }

    /// Sends a command that is not answered.
    func post(_ command: AssuanCommand) {
        if !process.send(command) {
            end(.failure(PromptError(.crashed, reason: "the pinentry does not read its input")))
        }
    }

    /// Ends the program; a pending command is answered ``Reply/closed``.
    func close() {
        end(.success(.closed))
    }

    /// Takes the data of the last answer; empty if there were none.
    func takeData() throws(GcryptError) -> SecureBytes {
        guard let data = data.take() else { return try SecureBytes(count: 0, in: .locked) }
        return try data.withUnsafeBytes { (bytes) throws(GcryptError) in
            try SecureBytes(copying: UnsafeRawBufferPointer(rebasing: bytes[..<dataCount]), in: .locked)
        }
    }

    // MARK: Receiving

    private func receive() {
        if case .new = state { return }
        while true {
            switch input.fill(from: process.socket) {
            case .more:
                while !isEnded, let isGood = input.takeLine({ receive($0) }) {
                    if !isGood { return failOnGarbage() }
                }
                if isEnded { return }
            case .nothing: return
            case .overflow: return failOnGarbage()
            case .end: return end(.failure(PromptError(.crashed, reason: "the pinentry closed its output")))
            }
        }
    }

    private var isEnded: Bool {
        if case .ended = state { true } else { false }
    }

    /// Returns false if the line is unexpected.
    private func receive(_ line: UnsafeRawBufferPointer) -> Bool {
        guard case .waiting = state, let kind = AssuanLine(line) else { return false }
        lineCount += 1
        guard lineCount <= PinentryChannel.lineCountLimit else { return false }
        switch kind {
        case .success: answer(.success)
        // The high half contains the error source.
        case .failure(let code): answer(.failure(code: code & 0xFFFF))
        case .data: return append(UnsafeRawBufferPointer(rebasing: line[AssuanLine.dataOffset...]))
        case .status(let keyword):
            statuses.insert(keyword)
            onStatus?(keyword)
        case .comment: break
        // No command here allows inquiries.
        case .inquiry: return false
        }
        return true
    }

    /// Appends decoded data; false if too long or badly escaped.
    ///
    /// Allocates exactly, since locked memory is scarce.
    private func append(_ escaped: UnsafeRawBufferPointer) -> Bool {
        let known = dataCount
        let total = known + escaped.count
        guard total <= PinentryChannel.escapedLimit, let memory = try? SecureBytes(count: total, in: .locked) else {
            return false
        }
        var grown = memory
        let count = grown.withUnsafeMutableBytes { buffer in
            data?.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<known])) }
            return PercentEncoding.decode(escaped, into: UnsafeMutableRawBufferPointer(rebasing: buffer[known...]))
        }
        guard let count, known + count <= PinentryChannel.dataLimit else { return false }
        data = consume grown
        dataCount = known + count
        return true
    }

    private func answer(_ reply: Reply) {
        guard case .waiting(let continuation, let deadline) = state else { return }
        BusActor.loop.cancel(deadline)
        state = .idle
        continuation.resume(returning: .success(reply))
    }

    // MARK: Ending

    private func failOnGarbage() {
        end(.failure(PromptError(.failed, reason: "the pinentry's answer violates its protocol")))
    }

    private func end(_ outcome: Outcome) {
        let ended = state
        if case .ended = ended { return }
        state = .ended(outcome)
        data = nil
        process.end()
        if case .waiting(let continuation, let deadline) = ended {
            BusActor.loop.cancel(deadline)
            continuation.resume(returning: outcome)
        }
    }
}
