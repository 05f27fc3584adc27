@testable import KeychaindDBus

/// What a hostile service sends, read from the bytes of a fuzzer.
///
/// A record has one byte for its kind and an index, two for the size of its body, and the body. The two low bits of the
/// first byte are the kind, the next four the index, and the high ones choose the proper signature or another.
struct Script {
    enum Record {
        /// The answer to the call that waits longest.
        case answer(signature: Signature, body: ArraySlice<UInt8>)
        case error(ErrorName, body: ArraySlice<UInt8>)
        case signal(index: Int, signature: Signature, body: ArraySlice<UInt8>)
        /// A call of an object that was exported to the service.
        case call(index: Int, signature: Signature, body: ArraySlice<UInt8>)
    }

    /// The signature of a body: that of the interface, or another one.
    enum Signature {
        case proper
        case other(String)

        func text(or proper: String) -> String {
            switch self {
            case .proper: proper
            case .other(let text): text
            }
        }
    }

    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    mutating func next() -> Record? {
        guard let head = rest.popFirst(), let low = rest.popFirst(), let high = rest.popFirst() else { return nil }
        let body = rest.prefix(Int(low) | Int(high) << 8)
        rest = rest.dropFirst(body.count)
        let index = Int(head >> 2 & 0xF)
        let signature: Signature =
            switch head >> 6 {
            case 0: .proper
            case 1: .other("v")
            case 2: .other("a{sv}")
            default: .other("s")
            }
        return switch head & 3 {
        case 0: .answer(signature: signature, body: body)
        case 1: .error(Self.errors[index % Self.errors.count], body: body)
        case 2: .signal(index: index, signature: signature, body: body)
        default: .call(index: index, signature: signature, body: body)
        }
    }

    private static let errors = [
        ErrorName.failed, .noReply, .timeout, .serviceUnknown, .nameHasNoOwner, .accessDenied, .unknownMethod,
        .unknownObject, .invalidArguments,
        ErrorName(rawValue: "net.reactivated.Fprint.Error.NoEnrolledPrints"),
        ErrorName(rawValue: "net.reactivated.Fprint.Error.AlreadyInUse"),
        ErrorName(rawValue: "net.reactivated.Fprint.Error.NoSuchDevice"),
        ErrorName(rawValue: "net.reactivated.Fprint.Error.Internal"),
        ErrorName(rawValue: "net.reactivated.Fprint.Error.PermissionDenied"),
        ErrorName(rawValue: "org.freedesktop.PolicyKit1.Error.NotAuthorized"),
        ErrorName(rawValue: "org.freedesktop.PolicyKit1.Error.Cancelled"),
    ]
}
