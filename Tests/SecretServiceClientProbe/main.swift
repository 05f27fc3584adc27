import SecretServiceClient

do {
    try await Probe.run(CommandLine.arguments.dropFirst().first ?? "")
    print("ok")
} catch {
    print(error)
}
