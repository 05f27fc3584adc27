import DBus

/// One comparison of a finger with the enrolled ones, from claiming the reader to giving it back.
///
/// The outcome is told as soon as it is known; the reader is given back after that, whatever fprintd does meanwhile.
@BusActor
final class FingerprintMatch: BiometryMatch {
    private enum State {
        case running
        /// The reader has failed; whether it is still there shows when it is given back.
        case failing
        case ended(BiometryOutcome)
    }

    private let reader: FingerprintReader
    private let limits: FingerprintLimits
    private let hint: @BusActor (BiometryHint) -> Void
    private var state = State.running
    private var isOver = false
    private var finger = ""
    private var retryCount = 0
    private var patience: Timer?
    private var waitingForOutcome: [CheckedContinuation<BiometryOutcome, Never>] = []
    private var waitingForScan: [CheckedContinuation<Void, Never>] = []
    private var waitingForEnd: [CheckedContinuation<Void, Never>] = []

    /// Creates a match that has still to be ``start(after:)``ed.
    init(_ reader: FingerprintReader, _ limits: FingerprintLimits, hint: @escaping @BusActor (BiometryHint) -> Void) {
        self.reader = reader
        self.limits = limits
        self.hint = hint
    }

    /// Begins, as soon as an earlier match has given the reader back.
    func start(after earlier: FingerprintMatch?) {
        BusActor.start { [self] in
            await earlier?.waitForEnd()
            if isRunning {
                await run()
            }
            isOver = true
            resume(&waitingForEnd)
        }
    }

    /// Waits for the outcome; that it was cancelled is told at once.
    func outcome() async -> BiometryOutcome {
        await withCheckedContinuation { continuation in
            if case .ended(let outcome) = state {
                continuation.resume(returning: outcome)
            } else {
                waitingForOutcome.append(continuation)
            }
        }
    }

    /// Ends the match.
    func cancel() {
        fail(.systemCancel, "the match was cancelled")
    }

    /// Waits until the reader has been given back.
    private func waitForEnd() async {
        await withCheckedContinuation { continuation in
            if isOver {
                continuation.resume()
            } else {
                waitingForEnd.append(continuation)
            }
        }
    }

    private var isRunning: Bool {
        if case .running = state { true } else { false }
    }

    // MARK: Running

    private func run() async {
        let claim: FprintClaim
        do throws(AuthenticationError) {
            claim = try await reader.claim { isRunning }
        } catch {
            return end(.failed(error))
        }
        claim.onEvent = { [self] in receive($0, wantsSwipe: claim.wantsSwipe) }
        if isRunning {
            await scan(with: claim)
        }
        claim.onEvent = nil
        if case .ended(.notMatched) = state {
            // Somebody who is not recognised mostly tries again.
            reader.keep(claim)
        } else {
            let wasThere = await claim.release()
            judgeFailure(readerWasThere: wasThere)
        }
    }

    private func scan(with claim: FprintClaim) async {
        do throws(BusError) {
            try await claim.startVerifying()
            if isRunning {
                patience = BusActor.loop.schedule(after: limits.touch) { [weak self] in
                    self?.fail(.systemCancel, "nobody has touched the fingerprint reader")
                }
                hint(claim.wantsSwipe ? .swipe : .touch)
                await waitForScan()
            }
        } catch {
            end(.failed(AuthenticationError(matching: error)))
        }
        await claim.stopVerifying()
    }

    private func waitForScan() async {
        await withCheckedContinuation { continuation in
            if isRunning {
                waitingForScan.append(continuation)
            } else {
                continuation.resume()
            }
        }
    }

    private func judgeFailure(readerWasThere: Bool) {
        guard case .failing = state else { return }
        if readerWasThere {
            fail(.biometryNotAvailable, "the fingerprint reader has failed")
        } else {
            fail(.biometryDisconnected, "the fingerprint reader is gone")
        }
    }

    // MARK: What the reader tells

    private func receive(_ event: FprintClaim.Event, wantsSwipe: Bool) {
        guard isRunning else { return }
        switch event {
        case .selected(let finger):
            self.finger = finger == FprintDevice.anyFinger ? "" : finger
        case .scanned(.match):
            end(.matched(finger: finger))
        case .scanned(.noMatch):
            end(.notMatched)
        case .scanned(.retry(let hint)):
            retryCount += 1
            guard retryCount <= limits.retries else {
                return fail(.authenticationFailed, "no scan of \(limits.retries) was any good")
            }
            self.hint(hint)
        case .scanned(.failed):
            state = .failing
            stopWaiting()
        case .scanned(.disconnected):
            fail(.biometryDisconnected, "the fingerprint reader was unplugged")
        case .scanned(.unknown):
            fail(.biometryNotAvailable, "fprintd tells what its interface does not know")
        case .lost:
            fail(.biometryDisconnected, "fprintd is gone")
        }
    }

    // MARK: Ending

    private func fail(_ code: AuthenticationError.Code, _ reason: String) {
        end(.failed(AuthenticationError(code, reason: reason)))
    }

    private func end(_ outcome: BiometryOutcome) {
        if case .ended = state { return }
        state = .ended(outcome)
        stopWaiting()
        let waiting = waitingForOutcome
        waitingForOutcome = []
        for continuation in waiting {
            continuation.resume(returning: outcome)
        }
    }

    private func stopWaiting() {
        if let patience {
            BusActor.loop.cancel(patience)
        }
        patience = nil
        resume(&waitingForScan)
    }

    private func resume(_ waiting: inout [CheckedContinuation<Void, Never>]) {
        let resumed = waiting
        waiting = []
        for continuation in resumed {
            continuation.resume()
        }
    }
}
