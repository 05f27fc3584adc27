import KeychaindDBus

extension Connection {
    /// Takes a name for a stand-in, once the bus has seen the end of the one before.
    ///
    /// A connection that was closed may still own the name for a moment.
    func takeName(_ name: String, options: NameRequest.Options = []) throws {
        let deadline = ContinuousClock.now + Patience.limit
        while try requestName(name, options: options) != .owner {
            guard ContinuousClock.now < deadline else { throw WaitError.timedOut("the name \(name)") }
        }
    }
}
