import KeychaindDBus

/// One comparison with the enrolled fingers, from claim to release of the reader.
///
/// Delivers the outcome before the release.
@BusActor
final class FingerprintMatch: BiometryMatch {
    private enum State {
        case running
        /// The reader failed; its release shows whether it is still connected.
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

    init(_ reader: FingerprintReader, _ limits: FingerprintLimits, hint: @escaping @BusActor (BiometryHint) -> Void) {
        self.reader = reader
        self.limits = limits
        self.hint = hint
    }

    /// Starts once the earlier match has released the reader.
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
            // The person usually tries again at once.
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
                    self?.fail(.systemCancel, "nobody touched the fingerprint reader in time")
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
            fail(.biometryNotAvailable, "the fingerprint reader failed")
        } else {
            fail(.biometryDisconnected, "the fingerprint reader is gone")
        }
    }

    // MARK: Events

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
                return fail(.authenticationFailed, "none of \(limits.retries) scans was usable")
            }
            self.hint(hint)
        case .scanned(.failed):
            state = .failing
            stopWaiting()
        case .scanned(.disconnected):
            fail(.biometryDisconnected, "the fingerprint reader was unplugged")
        case .scanned(.unknown):
            fail(.biometryNotAvailable, "fprintd reported an unknown result")
        case .lost:
            fail(.biometryDisconnected, "lost the connection to fprintd")
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
