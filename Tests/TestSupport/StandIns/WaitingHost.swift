import Dispatch
package import KeychaindGcrypt
package import KeychaindVault

/// A host that keeps the thread for derivations until it may seal.
package final class WaitingHost: HostSealer {
    /// An element for each key to seal.
    package let calls = Recorder<Void>()
    private let gate = DispatchSemaphore(value: 0)

    package init() {}

    /// Lets it seal.
    package func open() {
        gate.signal()
    }

    package func check() throws(VaultError) {}

    package func seal(_ key: borrowing SecureBytes) throws(VaultError) -> [UInt8] {
        calls.record(())
        gate.wait()
        // The next one need not wait.
        gate.signal()
        return [1]
    }

    package func unseal(_ sealed: [UInt8]) throws(VaultError) -> SecureBytes {
        throw VaultError(.hostNotAvailable, reason: "it only seals")
    }
}
