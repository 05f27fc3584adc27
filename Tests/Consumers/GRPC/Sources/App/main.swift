import GRPCCore
import GRPCNIOTransportHTTP2
import Security

guard store("correct horse", of: "mail") == errSecSuccess else { fatalError("not stored") }
try await withGRPCServer(
    transport: .http2NIOPosix(address: .ipv4(host: "127.0.0.1", port: 0), transportSecurity: .plaintext),
    services: [PasswordService()]
) { server in
    guard let address = try await server.listeningAddress?.ipv4 else { fatalError("no address") }
    let transport = try HTTP2ClientTransport.Posix.http2NIOPosix(
        target: .ipv4(address: address.host, port: address.port),
        transportSecurity: .plaintext
    )
    try await withGRPCClient(transport: transport) { client in
        let password = try await client.unary(
            request: ClientRequest(message: "mail"),
            descriptor: PasswordService.get,
            serializer: TextCoding(),
            deserializer: TextCoding(),
            options: .defaults
        ) { response in try response.message }
        print(password)
    }
}
