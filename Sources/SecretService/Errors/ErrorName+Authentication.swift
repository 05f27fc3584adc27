package import Authentication
package import DBus

extension ErrorName {
    /// The name of an authentication's error: Apple's, below a prefix of our own.
    package init(_ code: AuthenticationError.Code) {
        let name = code.description
        self.init(rawValue: "org.keychaind.Error." + name.prefix(1).uppercased() + name.dropFirst())
    }
}

extension BusError {
    /// What a caller is told when an authentication has come to nothing.
    init(_ error: AuthenticationError) {
        self.init(ErrorName(error.code), error.reason)
    }
}
