import Security

/// The query for the item; other languages see its attributes `service` and `account`.
func item(_ service: String, _ account: String) -> [CFString: Any] {
    [kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account]
}

/// Writes a password; changes the existing one of any program.
func write(_ password: Data, _ service: String, _ account: String) -> OSStatus {
    let secret = [kSecValueData: password]
    let status = SecItemUpdate(item(service, account) as CFDictionary, secret as CFDictionary)
    guard status == errSecItemNotFound else { return status }
    return SecItemAdd(item(service, account).merging(secret) { $1 } as CFDictionary, nil)
}

/// Prints a password.
func read(_ service: String, _ account: String) -> OSStatus {
    let query = item(service, account).merging([kSecReturnData: true]) { $1 }
    var result: CFTypeRef?
    let status = SecItemCopyMatching(query as CFDictionary, &result)
    if let password = result as? Data { FileHandle.standardOutput.write(password) }
    return status
}

let arguments = CommandLine.arguments.dropFirst()
let status: OSStatus
switch (arguments.first, arguments.dropFirst().first, arguments.dropFirst(2).first) {
case ("write", let service?, let account?):
    status = write(FileHandle.standardInput.readDataToEndOfFile(), service, account)
case ("read", let service?, let account?):
    status = read(service, account)
default:
    print("usage: FromOtherLanguages write SERVICE ACCOUNT <PASSWORD | read SERVICE ACCOUNT")
    exit(64)
}
if status != errSecSuccess {
    let message = SecCopyErrorMessageString(status, nil) as String? ?? "Status \(status)"
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    exit(1)
}
