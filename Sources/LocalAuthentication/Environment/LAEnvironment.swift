public import Foundation
import Synchronization

/// The ways to authenticate on this machine.
///
/// There are no signals of enrolled fingers and passwords: ``state`` asks keychaind each time.
public final class LAEnvironment: NSObject, Sendable {
    /// Receives changes of the state.
    public protocol Observer: AnyObject {
        /// Called on the thread that read a state which differs from the last one.
        func environment(_ environment: LAEnvironment, stateDidChangeFromOldState oldState: State)
    }

    private struct Contents {
        var last: State?
        var observers: [ObjectIdentifier: WeakObserver] = [:]
    }

    // `@unchecked Sendable`: the reference is used only as the program's other references to its observer.
    private struct WeakObserver: @unchecked Sendable {
        weak var observer: (any Observer)?
    }

    private let contents = Mutex(Contents())

    /// The environment of the user of this program.
    public static let currentUser = LAEnvironment()

    private override init() {}

    /// The state now.
    public var state: State {
        let state = State.current()
        let (last, observers) = contents.withLock { contents in
            defer { contents.last = state }
            contents.observers = contents.observers.filter { $0.value.observer != nil }
            return (contents.last, Array(contents.observers.values))
        }
        if let last, last != state {
            for each in observers { each.observer?.environment(self, stateDidChangeFromOldState: last) }
        }
        return state
    }

    /// Adds an observer, which is not retained.
    ///
    /// It is called when a reading of ``state`` finds a change.
    public func addObserver(_ observer: any Observer) {
        let added = WeakObserver(observer: observer)
        let id = ObjectIdentifier(observer)
        contents.withLock { $0.observers[id] = added }
    }

    /// Removes an observer.
    public func removeObserver(_ observer: any Observer) {
        let id = ObjectIdentifier(observer)
        contents.withLock { $0.observers[id] = nil }
    }
}
