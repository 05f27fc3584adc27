import DBus

extension Connection {
    /// Tells everybody that somebody else's prompt has unlocked an item, and waits until that is on the bus.
    func completeFalsely(_ prompt: ObjectPath, _ item: ObjectPath) async throws(BusError) {
        let signal = Message.signal(prompt, "org.freedesktop.Secret.Prompt", "Completed")
        signal.append(false, Variant.objectPaths([item]))
        send(signal)
        _ = try await owner(of: "org.freedesktop.DBus")
        close()
    }
}
