/// The arguments of the bus's signal `NameOwnerChanged`.
struct OwnerChange {
    let name: String

    /// The unique name of the new owner; nil if there is none any more.
    let owner: String?

    /// Nil for arguments of other types, and for an owner that is no name.
    init?(_ signal: Message) {
        guard let (name, _, owner) = try? signal.read(String.self, String.self, String.self),
            owner.isEmpty || Connection.isName(owner)
        else { return nil }
        self.name = name
        self.owner = owner.isEmpty ? nil : owner
    }
}
