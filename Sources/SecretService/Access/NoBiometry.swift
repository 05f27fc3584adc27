package import Authentication
import DBus

/// Stands for a machine that is not to use its reader.
package final class NoBiometry: Biometry {
    package nonisolated init() {}

    /// That there is none.
    package func availability() async -> BiometryAvailability {
        .notAvailable(reason: "no reader is used")
    }

    /// Ends at once, as there is nothing to touch.
    package func match(hint: @escaping @BusActor (BiometryHint) -> Void) -> any BiometryMatch {
        Match()
    }

    private final class Match: BiometryMatch {
        func outcome() async -> BiometryOutcome {
            .failed(AuthenticationError(.biometryNotAvailable, reason: "no reader is used"))
        }

        func cancel() {}
    }
}
