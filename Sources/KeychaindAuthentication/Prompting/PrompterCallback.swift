import KeychaindDBus

/// The lifetime of the object that a prompter calls back for one dialog.
///
/// It ends when the prompter removes the dialog, leaves the bus, or does not confirm a stop in time.
@BusActor
final class PrompterCallback {
    private enum State {
        case open(SubscriptionID)
        case stopping(SubscriptionID, patience: Timer)
        case closed
    }

    /// The time limit of a confirmation, after which the object is withdrawn.
    private static let patience = Duration.seconds(10)

    let peer: String
    let path: ObjectPath
    var onVanish: (@BusActor () -> Void)?

    private let connection: Connection
    private var state = State.closed

    /// Watches the object, which the caller exports at the path for the prompter alone.
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

    /// Asks the prompter once to remove the dialog; the object stays until a confirmation or ``patience`` ends.
    func stop(by message: Message) {
        guard case .open(let subscription) = state else { return }
        connection.send(message)
        let patience = BusActor.loop.schedule(after: PrompterCallback.patience) { [weak self] in self?.close() }
        state = .stopping(subscription, patience: patience)
    }

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
