import KeychaindDBus

/// Signals of changes that are sent to a client alone.
extension Client {
    /// Sends a signal to the client.
    typealias Signal = @BusActor (Client) -> Void

    /// With more of them, none waits.
    private static let mostDeferred = 256

    /// Sends a signal; after `Completed` if the client waits for that.
    ///
    /// A program without match rules expects no other signal, and go-keyring takes the first one for the end of its
    /// prompt. A program that caches properties gets all signals at once: libsecret reads its cache after `Completed`.
    func deliver(_ signal: @escaping Signal) {
        guard !cachesProperties, prompts.areRunning, deferredSignals.count < Client.mostDeferred else {
            sendDeferredSignals()
            return signal(self)
        }
        deferredSignals.append(signal)
    }

    func sendDeferredSignals() {
        guard !deferredSignals.isEmpty else { return }
        let signals = deferredSignals
        deferredSignals = []
        for signal in signals { signal(self) }
    }
}
