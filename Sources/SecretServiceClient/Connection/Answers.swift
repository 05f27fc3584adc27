import DBus

extension Message {
    /// Reads all values of an answer; they must be just these.
    func reading<each Value: BusValue>(
        _ types: repeat (each Value).Type
    ) throws(SecretServiceError) -> (repeat each Value) {
        do throws(BusError) {
            return try read(repeat each types)
        } catch {
            throw SecretServiceError(reading: error)
        }
    }
}

extension Variant {
    /// The path that a prompt has resulted in.
    func path() throws(SecretServiceError) -> ObjectPath {
        guard case .objectPath(let path) = self, path != .root else {
            throw SecretServiceError(.invalidAnswer, "the prompt did not result in an object")
        }
        return path
    }

    /// The paths that a prompt has resulted in.
    func paths() throws(SecretServiceError) -> [ObjectPath] {
        guard case .objectPaths(let paths) = self else {
            throw SecretServiceError(.invalidAnswer, "the prompt did not result in a list of objects")
        }
        return paths
    }
}

/// Properties as they come; what is missing or of another type counts as empty, since providers leave out what is sealed (spec #106).
extension [String: Variant] {
    func string(_ name: String) -> String {
        guard case .string(let value) = self[name] else { return "" }
        return value
    }

    func dictionary(_ name: String) -> [String: String] {
        guard case .stringDictionary(let value) = self[name] else { return [:] }
        return value
    }

    func boolean(_ name: String) -> Bool {
        guard case .boolean(let value) = self[name] else { return false }
        return value
    }

    func number(_ name: String) -> UInt64 {
        guard case .uint64(let value) = self[name] else { return 0 }
        return value
    }
}
