import Security

let keychain = KeychainWrapper(service: CommandLine.arguments.dropFirst().first ?? "KeychainWrapper")
print("“name = value” sets, “name =” deletes, “name” shows; Ctrl-D ends.")

while true {
    print("> ", terminator: "")
    fflush(nil)
    guard let line = readLine() else { break }
    let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }
    do {
        if parts.count == 1 {
            print(try keychain.value(forKey: parts[0]) ?? "There is none.")
        } else if parts[1].isEmpty {
            try keychain.removeValue(forKey: parts[0])
        } else {
            try keychain.set(parts[1], forKey: parts[0])
        }
    } catch {
        print(error)
    }
}
print()
