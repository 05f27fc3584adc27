/// A kind of biometry.
@nonexhaustive
public enum LABiometryType: Hashable, Sendable {
    /// Nothing.
    case none

    /// A finger, with any reader that fprintd supports.
    case touchID

    /// A face; not used here.
    case faceID

    /// The value of ``opticID``. As a case, a `switch` written before it would need it; as unavailable, none does.
    @available(*, unavailable, message: "Use opticID")
    case optic
}

extension LABiometryType: RawRepresentable {
    /// In the order of the cases.
    private static let numbers = [0, 1, 2, 4]

    /// An iris; not used here.
    public static var opticID: LABiometryType {
        // The only way to an unavailable case, which `LABiometryTypeTests` holds.
        unsafeBitCast(3 as UInt8, to: LABiometryType.self)
    }

    /// Creates a kind from Apple's number.
    public init?(rawValue: Int) {
        let all: [LABiometryType] = [.none, .touchID, .faceID, .opticID]
        guard let index = LABiometryType.numbers.firstIndex(of: rawValue) else { return nil }
        self = all[index]
    }

    /// Apple's number.
    public var rawValue: Int {
        LABiometryType.numbers[Int(unsafeBitCast(self, to: UInt8.self))]
    }
}
