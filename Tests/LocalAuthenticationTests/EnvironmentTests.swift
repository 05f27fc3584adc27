import Foundation
import KeychaindTestSupport
import LocalAuthentication
import SecretServiceClient
import Synchronization
import Testing

// Serialized: the environment is one for the process, and its observers see a change from machine to machine.
@Suite(.serialized)
struct EnvironmentTests {
    @Test("Without a reader there is the passcode alone")
    func state_withoutReader() async throws {
        try await Machine.with { machine in
            let state = await machine.elsewhere { LAEnvironment.currentUser.state }
            #expect(state.biometry == nil && state.companions.isEmpty)
            #expect(state.userPassword?.isSet == true && state.userPassword?.isUsable == true)
            #expect(state.allMechanisms.count == 1)
            #expect(machine.questionCount == 0)
        }
    }

    @Test("The reader is reported with its fingers, and a change is observed")
    func state_withReader() async throws {
        try await Machine.withReader { machine, reader in
            let environment = LAEnvironment.currentUser
            let observer = Observer()
            let before = await machine.elsewhere { environment.state }
            #expect(before.biometry?.isEnrolled == true && before.biometry?.isLockedOut == false)
            #expect(before.biometry?.biometryType == .touchID && before.biometry?.stateHash.isEmpty == false)
            environment.addObserver(observer)
            #expect(await machine.elsewhere { environment.state } == before)
            #expect(observer.old.withLock { $0 }.isEmpty)
            try await reader.delete()
            let after = await machine.elsewhere { environment.state }
            #expect(after.biometry?.isEnrolled == false && after.biometry?.isUsable == false)
            #expect(after != before)
            #expect(observer.old.withLock { $0 } == [before])
            environment.removeObserver(observer)
        }
    }

    @Test("Without keychaind no mechanism is available")
    func state_withoutProvider() async throws {
        let bus = try await PrivateBus()
        let state = KeychainBus.$current.withValue(.address(bus.address)) {
            LAEnvironment.currentUser.state
        }
        #expect(state.allMechanisms.isEmpty)
    }

    private final class Observer: LAEnvironment.Observer, Sendable {
        let old = Mutex<[LAEnvironment.State]>([])

        func environment(_ environment: LAEnvironment, stateDidChangeFromOldState oldState: LAEnvironment.State) {
            old.withLock { $0.append(oldState) }
        }
    }
}
