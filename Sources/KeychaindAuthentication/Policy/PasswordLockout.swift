package import KeychaindDBus
package import KeychaindGcrypt

/// The lockouts of one password, separate for programs so that they cannot delay people.
@BusActor
package struct PasswordLockout {
    package enum Source: Hashable, Sendable {
        /// A trusted dialog.
        case person
        /// A program, or a dialog that a program may have answered.
        case program

        package init(_ trust: PrompterTrust) {
            self = trust == .trusted ? .person : .program
        }
    }

    private let clearing: Set<Source>
    private let keeper: @BusActor (Source) -> LockoutKeeper?

    /// Creates lockouts.
    ///
    /// - Parameters:
    ///   - clearing: the sources whose right password resets the counts; not those that may know another password with
    ///     the same count.
    ///   - keeper: returns the keeper for each attempt; nil if no password can be wrong, as with the first one of a
    ///     collection.
    package init(clearing: Set<Source> = [.person, .program], _ keeper: @escaping @BusActor (Source) -> LockoutKeeper?)
    {
        self.clearing = clearing
        self.keeper = keeper
    }

    /// Tries a password, unless the lockout lasts.
    package func attempt(
        _ password: consuming SecureBytes,
        on verifier: any PasswordVerifier,
        from source: Source
    ) async -> PasswordResult {
        guard let keeper = keeper(source) else { return await verifier.verify(password) }
        let result = await keeper.attempt(password, on: verifier, clearing: clearing.contains(source))
        // The right password ends the lockout of people, whatever its source.
        guard result == .right, source == .program, clearing.contains(.program) else { return result }
        if let people = self.keeper(.person), people !== keeper { await people.passcodeWasRight() }
        return result
    }
}
