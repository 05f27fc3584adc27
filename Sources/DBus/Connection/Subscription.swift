/// A handler and the signals it hears.
struct Subscription {
    let match: SignalMatch
    let handler: @BusActor (Message) -> Void
}

/// Names a subscription, to end it.
package struct SubscriptionID: Hashable, Sendable {
    let rawValue: UInt64
}
