import KeychaindDBus
import KeychaindVault

/// Admits each change at once, and lets something happen before: its call was checked, and it is not yet written.
@BusActor
final class AdmissionWithEvent: @BusActor ChangeAdmission {
    private let event: @BusActor () -> Void

    init(_ event: @escaping @BusActor () -> Void) {
        self.event = event
    }

    @BusActor
    func begin(_ bytes: Int) async -> Int {
        event()
        return 0
    }

    func end(_ number: Int) {}
}
