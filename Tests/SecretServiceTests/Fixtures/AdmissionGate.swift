import KeychaindDBus
import KeychaindVault

/// Lets no change begin until the test says so.
@BusActor
final class AdmissionGate: @BusActor ChangeAdmission {
    /// Fulfilled once a change waits.
    let begun = Promise<Void>()

    private let opened = Promise<Void>()

    @BusActor
    func begin(_ bytes: Int) async -> Int {
        begun.fulfill()
        await opened.wait()
        return 0
    }

    func end(_ number: Int) {}

    func open() {
        opened.fulfill()
    }
}
