import DBus
import Desktop
import KeychainModel
import Vault

extension KeySlotInfo {
    /// As a slot is sent: number, kind, when it was made in seconds since 1970 (0 if that is not known), label.
    static let signature = "(tsts)"

    /// Appends the structure.
    func write(to writer: inout Writer) {
        writer.writeStructure { writer in
            UInt64(clamping: number).write(to: &writer)
            name.write(to: &writer)
            (made?.seconds ?? 0).write(to: &writer)
            label.write(to: &writer)
        }
    }

    /// The kind's name on the bus.
    private var name: String {
        switch kind {
        case .password: "password"
        case .passcode: "passcode"
        case .recoveryKey: "recovery-key"
        case .host: "host"
        case .unknown: "unknown"
        }
    }

    /// What a person knows it as.
    var nameForPeople: String {
        let name =
            switch kind {
            case .password: "a password"
            case .passcode: "the passcode"
            case .recoveryKey: "a recovery key"
            case .host: "this computer"
            case .unknown: "something unknown"
            }
        return label.isEmpty ? name : "\(name) (“\(PromptText.name(label))”)"
    }
}
