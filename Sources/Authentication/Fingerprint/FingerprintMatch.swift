import DBus

/// One comparison of a finger with the enrolled ones, from the claim of the reader to its release.
///
/// Delivers the outcome as soon as it is known, and releases the reader after that.
@BusActor
final class FingerprintMatch: BiometryMatch {
    private enum State {
        case running
        /// The reader has failed; its release shows whether it is still there.
        case failing
        case ended(BiometryOutcome)
    }

    private let reader: FingerprintReader
    private let limits: FingerprintLimits
    private let hint: @BusActor (BiometryHint) -> Void
    private var state = State.running
    private var finger = ""
    private var retryCount = 0
    private var patience: Timer?
    private let result = Promise<BiometryOutcome>()
    private let scanEnd = Promise<Void>()
    private let release = Promise<Void>()

    /// Creates a match; ``start(after:)`` starts it.
    init(_ reader: FingerprintReader, _ limits: FingerprintLimits, hint: @escaping @BusActor (BiometryHint) -> Void) {
        self.reader = reader
        self.limits = limits
        self.hint = hint
    }

    /// Starts once an earlier match has released the reader.
    func start(after earlier: FingerprintMatch?) {
        BusActor.start { [self] in
            await earlier?.release.wait()
            if isRunning {
                await run()
            }
            release.fulfill()
        }
    }

    /// Waits for the outcome; a cancellation ends the wait immediately.
    func outcome() async -> BiometryOutcome { await result.value() }

    /// Ends the match.
    func cancel() {
        fail(.systemCancel, "the match was cancelled")
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
            // Another try usually follows.
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
                await scanEnd.wait()
            }
        } catch {
            end(.failed(AuthenticationError(matching: error)))
        }
        await claim.stopVerifying()
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
            fail(.biometryNotAvailable, "fprintd has reported an unknown result")
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
        result.fulfill(outcome)
    }

    private func stopWaiting() {
        if let patience {
            BusActor.loop.cancel(patience)
        }
        patience = nil
        scanEnd.fulfill()
    }
}

/// What fprintd tells of a scan: the results of its signal `VerifyStatus`.
enum VerifyStatus: Hashable {
    /// It is one of the enrolled fingers.
    case match
    /// It is another finger.
    case noMatch
    /// The scan was no good, and the reader waits for the next.
    case retry(BiometryHint)
    /// The reader was unplugged.
    case disconnected
    /// The driver has failed; also what a reader tells that is unplugged in the middle of a scan.
    case failed
    /// Nothing that the interface knows.
    case unknown

    /// Reads a result.
    ///
    /// - Parameter isDone: whether fprintd says that the verification is over, which it is just when the result is no
    ///   retry.
    init(_ result: String, isDone: Bool) {
        self =
            switch (result, isDone) {
            case ("verify-match", true): .match
            case ("verify-no-match", true): .noMatch
            case ("verify-retry-scan", false): .retry(.retry)
            case ("verify-swipe-too-short", false): .retry(.swipeTooShort)
            case ("verify-finger-not-centered", false): .retry(.notCentered)
            case ("verify-remove-and-retry", false): .retry(.removeAndRetry)
            case ("verify-disconnected", _): .disconnected
            case ("verify-unknown-error", _): .failed
            // One of a newer fprintd: whatever was wrong with the scan, another one may do.
            case (_, false)
            where result.hasPrefix("verify-") && result != "verify-match" && result != "verify-no-match":
                .retry(.retry)
            default: .unknown
            }
    }
}
