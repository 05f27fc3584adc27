import KeychaindDBus

/// Adds the rows of `DBus`: the most frequent messages of the provider, and the same with libdbus alone.
func addMarshallingRows(to table: inout Table) {
    let paths = (1...1000).map { ObjectPath(unchecked: "/org/freedesktop/secrets/collection/login/\($0)") }
    addRows("GetAll of an item", to: &table, writeProperties) { reader in
        try? reader.readDictionary { (reader) throws(BusError) in
            keep(try String(from: &reader))
            keep(try reader.readVariant { (reader) throws(BusError) in reader.skip() })
        }
    }
    addRows("1,000 paths", to: &table, { paths.write(to: &$0) }) { reader in
        keep(try? [ObjectPath](from: &reader))
    }
}

private func addRows(
    _ name: String,
    to table: inout Table,
    _ write: (inout Writer) -> Void,
    _ read: (inout Reader) -> Void
) {
    table.row("marshal \(name)") {
        var writer = Writer(beginning: Marshaller(.answer(to: 1, of: ":1.1"), serial: 1))
        write(&writer)
        keep(writer.finish())
    }
    table.row("libdbus: marshal \(name)") {
        let message = makeMessage()
        message.write(write)
        keep(message)
    }
    table.ratio("marshal \(name)", to: ["libdbus: marshal \(name)"])
    let message = makeMessage()
    message.write(write)
    table.row("read \(name)") {
        var reader = message.makeReader()
        read(&reader)
    }
}

private func makeMessage() -> Message {
    Message.signal(.root, "org.example.Benchmark", "Values")
}

/// Writes the properties of an item like `GetAll`.
private func writeProperties(_ writer: inout Writer) {
    writer.writeArray(of: "{sv}") { writer in
        writer.writeProperty("Locked", false)
        writer.writeProperty("Created", UInt64(1_700_000_000))
        writer.writeProperty("Modified", UInt64(1_700_000_000))
        writer.writeProperty("Label", "Password of user 1234")
        writer.writeProperty(
            "Attributes",
            [
                "account": "user-1234", "server": "host-34.example.org", "protocol": "https", "port": "443",
                "xdg:schema": "org.example.Password",
            ]
        )
        writer.writeProperty("Type", "org.example.Password")
    }
}
