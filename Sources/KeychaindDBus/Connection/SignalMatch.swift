package struct SignalMatch: Hashable, Sendable {
    package let sender: String?
    package let path: ObjectPath?
    package let interface: String
    package let member: String?
    private let extraRule: String

    /// - Parameter sender: a unique name, or that of the bus; only the bus compares other well-known names.
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

    package static let bus = "org.freedesktop.DBus"

    /// Matches every name that loses its owner, including each connection that ends.
    package static let nameVanished = SignalMatch(
        sender: bus,
        path: nil,
        interface: bus,
        member: "NameOwnerChanged",
        extraRule: ",arg2=''"
    )

    /// Matches every name that gets an owner after none, including each new connection.
    package static let nameAppeared = SignalMatch(
        sender: bus,
        path: nil,
        interface: bus,
        member: "NameOwnerChanged",
        extraRule: ",arg1=''"
    )

    /// Matches changes of the owner of one name.
    ///
    /// The bus delivers a signal that matches any rule of the connection, so the handler compares the name again.
    package static func ownerChanged(of name: String) -> SignalMatch {
        SignalMatch(
            sender: bus,
            path: nil,
            interface: bus,
            member: "NameOwnerChanged",
            extraRule: ",arg0='\(name)'"
        )
    }

    package static let nameLost = SignalMatch(sender: bus, interface: bus, member: "NameLost")

    var rule: String {
        var rule = "type='signal',interface='\(interface)'"
        if let sender { rule += ",sender='\(sender)'" }
        if let path { rule += ",path='\(path)'" }
        if let member { rule += ",member='\(member)'" }
        return rule + extraRule
    }

    /// The bus delivers a signal that matches any rule of the connection.
    func matches(_ message: Message) -> Bool {
        guard message.interface == interface else { return false }
        if let member, message.member != member { return false }
        if let path, message.path != path.rawValue { return false }
        if let sender, sender.hasPrefix(":") || sender == SignalMatch.bus { return message.sender == sender }
        return true
    }
}
