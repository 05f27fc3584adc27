import Security

let arguments = CommandLine.arguments.dropFirst()
do {
    switch (arguments.first, arguments.dropFirst().first, arguments.dropFirst(2).first) {
    case ("add", let server?, let username?):
        let password = String(cString: getpass("Password of \(username) at \(server): "))
        try Credentials(username: username, password: password).add(for: server)
        print("Added.")
    case ("read", let server?, nil):
        let credentials = try Credentials.read(for: server)
        print("\(credentials.username): \(credentials.password)")
    case ("delete", let server?, nil):
        try Credentials.delete(for: server)
        print("Deleted.")
    default:
        print("usage: Credentials add SERVER USERNAME | read SERVER | delete SERVER")
        exit(64)
    }
} catch {
    print(error.localizedDescription)
    exit(1)
}
