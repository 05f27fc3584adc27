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

    private let keeper: @BusActor (Source) -> LockoutKeeper?

    /// Creates lockouts.
    ///
    /// - Parameter keeper: returns the keeper for each attempt; nil if no password can be wrong, as with the first one
    ///   of a collection.
    package init(_ keeper: @escaping @BusActor (Source) -> LockoutKeeper?) {
        self.keeper = keeper
    }

    /// Tries a password, unless the lockout lasts.
    package func attempt(
        _ password: consuming SecureBytes,
        on verifier: any PasswordVerifier,
        from source: Source
    ) async -> PasswordResult {
        guard let keeper = keeper(source) else { return await verifier.verify(password) }
        let result = await keeper.attempt(password, on: verifier)
        // The right password ends the lockout of people, whatever its source.
        if result == .right, source == .program, let people = self.keeper(.person), people !== keeper {
            await people.passcodeWasRight()
        }
        return result
    }
}
