import DBus

/// The life of the object that a prompter calls back for one dialog.
///
/// It ends when the prompter has taken the dialog away or has left the bus, or when it does not confirm for a while
/// that it was told to.
@BusActor
final class PrompterCallback {
    private enum State {
        case open(SubscriptionID)
        /// The prompter was told to take the dialog away, and has not confirmed it.
        case stopping(SubscriptionID, patience: Timer)
        case closed
    }

    /// How long the prompter may take to confirm, before what it says next meets no object.
    private static let patience = Duration.seconds(10)

    /// The unique name of the prompter.
    let peer: String
    let path: ObjectPath
    /// Called when the prompter has left the bus.
    var onVanish: (@BusActor () -> Void)?

    private let connection: Connection
    private var state = State.closed

    /// Watches over the object, which is to be exported at the path for the prompter alone.
    init(_ connection: Connection, of peer: String, at path: ObjectPath) {
        self.connection = connection
        self.peer = peer
        self.path = path
        state = .open(
            connection.onNameVanished { [weak self] name in
                if name == peer { self?.onVanish?() }
            }
        )
    }

    /// Tells the prompter to take the dialog away, and waits for it; not if that was told before.
    func stop(by message: Message) {
        guard case .open(let subscription) = state else { return }
        connection.send(message)
        let patience = BusActor.loop.schedule(after: PrompterCallback.patience) { [weak self] in self?.close() }
        state = .stopping(subscription, patience: patience)
    }

    /// Withdraws the object.
    func close() {
        switch state {
        case .open(let subscription):
            connection.unsubscribe(subscription)
        case .stopping(let subscription, let patience):
            connection.unsubscribe(subscription)
            BusActor.loop.cancel(patience)
        case .closed:
            return
        }
        state = .closed
        connection.withdraw(path)
    }
}
