import CKeychaindDBus

extension Connection {
    /// Calls the handler with the signals that match, until ``unsubscribe(_:)``.
    @discardableResult
    package func subscribe(
        to match: SignalMatch,
        _ handler: @escaping @BusActor (Message) -> Void
    ) -> SubscriptionID {
        subscriptionCount += 1
        subscriptions[subscriptionCount] = Subscription(match: match, handler: handler)
        outbox.handOver { [self] in
            if isOpen { dbus_bus_add_match(pointer, match.rule, nil) }
        }
        return SubscriptionID(rawValue: subscriptionCount)
    }

    package func unsubscribe(_ id: SubscriptionID) {
        guard let subscription = subscriptions.removeValue(forKey: id.rawValue) else { return }
        outbox.handOver { [self] in
            if isOpen { dbus_bus_remove_match(pointer, subscription.match.rule, nil) }
        }
    }

    func isSubscribed(_ id: SubscriptionID) -> Bool {
        subscriptions[id.rawValue] != nil
    }

    /// Calls the handler with the unique name of every connection that appears on the bus.
    @discardableResult
    package func onConnectionAppeared(_ handler: @escaping @BusActor (_ name: String) -> Void) -> SubscriptionID {
        subscribe(to: .nameAppeared) { message in
            guard let (name, owner, _) = try? message.read(String.self, String.self, String.self), owner.isEmpty,
                name.hasPrefix(":"), Connection.isName(name)
            else { return }
            handler(name)
        }
    }

    /// Calls the handler with every unique or well-known name that loses its owner.
    @discardableResult
    package func onNameVanished(_ handler: @escaping @BusActor (_ name: String) -> Void) -> SubscriptionID {
        subscribe(to: .nameVanished) { message in
            guard let (name, _, owner) = try? message.read(String.self, String.self, String.self), owner.isEmpty else {
                return
            }
            handler(name)
        }
    }
}

struct Subscription {
    let match: SignalMatch
    let handler: @BusActor (Message) -> Void
}

package struct SubscriptionID: Hashable, Sendable {
    let rawValue: UInt64
}
