/// Frames of the login protocol, encoded by hand.
struct LoginFrame {
    var magic = Array("KCHNPAM".utf8) + [1]
    var operation: [UInt8] = [0, 0, 0, 1]
    var password: [UInt8]
    var newPassword: [UInt8] = []
    /// False lengths for the frame.
    var lengths: [UInt8]?

    static func unlock(_ password: String) -> LoginFrame {
        LoginFrame(password: Array(password.utf8))
    }

    static func change(_ old: String, to new: String) -> LoginFrame {
        LoginFrame(operation: [0, 0, 0, 2], password: Array(old.utf8), newPassword: Array(new.utf8))
    }

    var bytes: [UInt8] {
        let lengths =
            lengths ?? [password, newPassword].flatMap { [UInt8($0.count >> 8), UInt8($0.count & 0xff)] }
        return magic + operation + lengths + Self.field(password) + Self.field(newPassword)
    }

    private static func field(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: 1024 - bytes.count)
    }
}
