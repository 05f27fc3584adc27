extension SecretServiceError {
    /// A kind of failure, open to new ones.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String {
            case busUnavailable, providerUnavailable, providerGone, disconnected, timedOut, cancelled, forked
            case dismissed, interactionNotAllowed, locked, accessDenied
            case noSuchObject, noSession, alreadyExists
            case invalidArguments, limitExceeded, notSupported
            case invalidAnswer, cryptographyFailed, providerFailed
        }

        private let kind: Kind

        /// There is no bus, or it does not let this program in.
        public static let busUnavailable = Code(kind: .busUnavailable)

        /// Nobody on the bus provides the Secret Service, and nobody could be started who does.
        public static let providerUnavailable = Code(kind: .providerUnavailable)

        /// The provider left the bus while it was asked: whether the change was made is not known.
        ///
        /// The next call finds its successor, if there is one.
        public static let providerGone = Code(kind: .providerGone)

        /// The bus has gone, or the client was closed; the client is of no more use.
        public static let disconnected = Code(kind: .disconnected)

        /// There was no answer in the time allowed: whether the change was made is not known.
        public static let timedOut = Code(kind: .timedOut)

        /// The task was cancelled while it waited: whether the change was made is not known.
        public static let cancelled = Code(kind: .cancelled)

        /// The process is a child of the one that has connected, whose connection it cannot use.
        public static let forked = Code(kind: .forked)

        /// A person was asked, and has said no.
        public static let dismissed = Code(kind: .dismissed)

        /// A person would have to be asked, which ``SecretPrompting/never`` rules out.
        public static let interactionNotAllowed = Code(kind: .interactionNotAllowed)

        /// The item or collection is locked.
        public static let locked = Code(kind: .locked)

        /// The provider, or the bus, does not let this program do that.
        public static let accessDenied = Code(kind: .accessDenied)

        /// The item or collection does not exist, or no longer.
        public static let noSuchObject = Code(kind: .noSuchObject)

        /// The provider has forgotten the session twice in a row.
        public static let noSession = Code(kind: .noSession)

        /// What was to be made exists.
        public static let alreadyExists = Code(kind: .alreadyExists)

        /// An argument is not one that the provider takes, or that D-Bus can carry.
        public static let invalidArguments = Code(kind: .invalidArguments)

        /// Something is larger, or there is more of it, than the provider or D-Bus allows.
        public static let limitExceeded = Code(kind: .limitExceeded)

        /// The provider cannot do that.
        public static let notSupported = Code(kind: .notSupported)

        /// The provider has answered something that the specification does not allow.
        public static let invalidAnswer = Code(kind: .invalidAnswer)

        /// A secret could not be encrypted or decrypted.
        public static let cryptographyFailed = Code(kind: .cryptographyFailed)

        /// The provider failed for a reason of its own.
        public static let providerFailed = Code(kind: .providerFailed)

        /// The name of the code.
        public var description: String { kind.rawValue }
    }
}
