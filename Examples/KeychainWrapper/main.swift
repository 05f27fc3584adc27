import Security

let keychain = KeychainWrapper(service: CommandLine.arguments.dropFirst().first ?? "KeychainWrapper")
print("“name = value” sets, “name =” deletes, “name” shows; Ctrl-D ends.")

while true {
    print("> ", terminator: "")
    fflush(nil)
    guard let line = readLine() else { break }
    let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }
    if parts.count == 2 {
        keychain[parts[0]] = parts[1].isEmpty ? nil : parts[1]
    } else {
        print(keychain[parts[0]] ?? "There is none.")
    }
}
print()
