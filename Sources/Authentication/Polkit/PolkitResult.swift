import DBus

/// What polkit has decided: `(bba{ss})`.
struct PolkitResult: BusValue, Hashable {
    static var signature: String { "(bba{ss})" }

    let isAuthorized: Bool
    /// Whether asking a person could change the answer, had one been asked.
    let isChallenge: Bool
    /// Whether a person was asked and has closed the dialog.
    let isDismissed: Bool

    init(from reader: inout Reader) throws(BusError) {
        let (isAuthorized, isChallenge, details) = try reader.readStructure { (reader) throws(BusError) in
            (try Bool(from: &reader), try Bool(from: &reader), try [String: String](from: &reader))
        }
        self.isAuthorized = isAuthorized
        self.isChallenge = isChallenge
        isDismissed = details["polkit.dismissed"] != nil
    }

    func write(to writer: inout Writer) {
        writer.writeStructure { writer in
            isAuthorized.write(to: &writer)
            isChallenge.write(to: &writer)
            (isDismissed ? ["polkit.dismissed": "true"] : [:]).write(to: &writer)
        }
    }
}
