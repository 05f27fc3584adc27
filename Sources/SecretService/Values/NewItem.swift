import DBus
import Vault

/// What a caller of CreateItem wants to be made.
struct NewItem: ~Copyable {
    let description: ItemDescription
    let secret: Secret
    let replacing: Bool

    /// Reads the arguments; the message's secret is overwritten, whether they are good or not.
    @BusActor
    init(from call: MethodCall, for provider: Provider) throws(BusError) {
        // The first argument is the properties.
        defer { call.message.wipeByteArrays(leaving: 1) }
        var reader = call.message.makeReader()
        let description = try ItemDescription(from: &reader)
        let secret = try provider.readSecret(&reader, from: call.sender)
        let replacing = try Bool(from: &reader)
        self.description = description
        self.secret = secret
        self.replacing = replacing
    }

    consuming func takeSecret() -> Secret { secret }
}
