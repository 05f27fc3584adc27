extension SecretClient {
    /// How to connect, and how long to wait.
    public struct Configuration: Hashable, Sendable {
        /// How secrets travel on the bus.
        public enum Encryption: Hashable, Sendable {
            /// Encrypted if the provider can do that, and as they are if it says that it cannot.
            case preferred
            /// Encrypted; a provider that cannot do that is refused with ``SecretServiceError/Code/notSupported``.
            case required
            /// As they are: for looking at the bus.
            case none
        }

        /// The bus on which to look for a provider.
        public var bus = SecretBus.session

        /// How secrets travel on the bus.
        ///
        /// What is encrypted cannot be read from a record of the bus. It is no protection from who can change what is on the bus.
        public var encryption = Encryption.preferred

        /// How long the bus may take to let this program in, and the bus to start a provider.
        public var connectTimeout = Duration.seconds(25)

        /// How long the provider may take for a call, in which nobody is asked.
        public var callTimeout = Duration.seconds(25)

        /// The session bus, and the usual limits.
        public init() {}

        /// Another bus, and the usual limits.
        public init(bus: SecretBus) {
            self.bus = bus
        }
    }
}
