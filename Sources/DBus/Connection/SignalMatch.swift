/// Which signals to hear.
package struct SignalMatch: Hashable, Sendable {
    package let sender: String?
    package let path: ObjectPath?
    package let interface: String
    package let member: String?
    private let extraRule: String

    /// - Parameter sender: a unique name, or the bus; a well-known name is compared by the bus alone.
    package init(sender: String? = nil, path: ObjectPath? = nil, interface: String, member: String? = nil) {
        self.init(sender: sender, path: path, interface: interface, member: member, extraRule: "")
    }

    private init(sender: String?, path: ObjectPath?, interface: String, member: String?, extraRule: String) {
        self.sender = sender
        self.path = path
        self.interface = interface
        self.member = member
        self.extraRule = extraRule
    }

    /// The name of the bus itself.
    package static let bus = "org.freedesktop.DBus"

    /// Every name that loses its owner, which each connection does when it ends.
    package static let nameVanished = SignalMatch(
        sender: bus,
        path: nil,
        interface: bus,
        member: "NameOwnerChanged",
        extraRule: ",arg2=''"
    )

    /// Every change of the owner of one name.
    ///
    /// The bus delivers what any rule of the connection matches, so that the handler has to look at the name again.
    package static func ownerChanged(of name: String) -> SignalMatch {
        SignalMatch(
            sender: bus,
            path: nil,
            interface: bus,
            member: "NameOwnerChanged",
            extraRule: ",arg0='\(name)'"
        )
    }

    /// The loss of a name of one's own.
    package static let nameLost = SignalMatch(sender: bus, interface: bus, member: "NameLost")

    var rule: String {
        var rule = "type='signal',interface='\(interface)'"
        if let sender { rule += ",sender='\(sender)'" }
        if let path { rule += ",path='\(path)'" }
        if let member { rule += ",member='\(member)'" }
        return rule + extraRule
    }

    /// The bus delivers what any rule of the connection matches, so that each handler has to look again.
    func matches(_ message: Message) -> Bool {
        guard message.interface == interface else { return false }
        if let member, message.member != member { return false }
        if let path, message.path != path.rawValue { return false }
        if let sender, sender.hasPrefix(":") || sender == SignalMatch.bus { return message.sender == sender }
        return true
    }
}
