import Gcrypt

/// One way to the master key of a collection: the master key, wrapped under a key that somebody or something has.
struct KeySlot: Equatable, Sendable {
    /// What opens a slot, by the number that is stored.
    enum Kind: Int64, Sendable {
        /// A password, by way of Argon2id.
        case password = 1
    }

    /// The number of the slot in its file.
    var id: Int64

    /// What opens it; a number that this version does not know is kept, and never opens.
    var kind: Int64

    /// What the kind needs to know; for a password see ``PasswordSlot``.
    var parameters: [UInt8]

    /// The sealed master key.
    var wrapped: [UInt8]

    /// The place that the master key is sealed for: slot number and kind, and the parameters.
    func place(in collection: [UInt8]) -> AssociatedData {
        var place = AssociatedData(collection: collection, column: .slot)
        place.set(item: UInt64(bitPattern: id), column: .slot, revision: UInt64(bitPattern: kind))
        parameters.withUnsafeBytes { parameters in place.set(suffix: parameters) }
        return place
    }

    /// Eight bytes that show accidental damage, so that a flipped bit is not taken for a wrong password.
    ///
    /// The key of this HMAC is the collection's identifier, which is no secret: it detects, and does not authenticate.
    func check(in collection: [UInt8]) throws(VaultError) -> [UInt8] {
        var message: [UInt8] = []
        message.append(bigEndian: id)
        message.append(bigEndian: kind)
        message.append(bigEndian: UInt32(clamping: parameters.count))
        message += parameters
        message += wrapped
        do throws(GcryptError) {
            let authenticator = try HMACSHA256(key: SecureBytes(copying: collection))
            let code = try message.withRawBytes { (message) throws(GcryptError) in
                try authenticator.authenticate(message)
            }
            return Array(code.prefix(8))
        } catch {
            throw VaultError(error)
        }
    }
}
