import DBus

/// The calls that wait for the vault or a key: those of one caller go on in the order in which they were made.
@BusActor
final class SettlingCalls {
    /// A call's place.
    struct Place: Hashable {
        let caller: String
        fileprivate let number: UInt64
    }

    private var places: [String: [Place]] = [:]
    private var continuations: [Place: CheckedContinuation<Void, Never>] = [:]
    private var count: UInt64 = 0

    nonisolated init() {}

    /// Whether calls of a caller wait.
    func contain(_ caller: String) -> Bool {
        !places.isEmpty && places[caller] != nil
    }

    /// A place behind the caller's other calls, to be given back with ``leave(_:)``.
    func enter(_ caller: String) -> Place {
        count += 1
        let place = Place(caller: caller, number: count)
        places[caller, default: []].append(place)
        return place
    }

    /// Waits until the calls before have given their places back.
    func takeTurn(_ place: Place) async {
        await withCheckedContinuation { continuation in
            // In here, since to suspend may let others run first.
            guard places[place.caller]?.first != place else { return continuation.resume() }
            continuations[place] = continuation
        }
    }

    /// Gives a place back, after its turn.
    func leave(_ place: Place) {
        guard var rest = places[place.caller], rest.first == place else { return }
        rest.removeFirst()
        places[place.caller] = rest.isEmpty ? nil : rest
        if let next = rest.first { continuations.removeValue(forKey: next)?.resume() }
    }
}
