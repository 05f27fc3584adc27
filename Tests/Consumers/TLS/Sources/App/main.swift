import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import SwiftASN1
import X509

/// Requests the page `/` with the identity, and returns what the server answers.
func page(port: Int, trusting root: String, as identity: Identity) async throws -> String {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.trustRoots = .file(root)
    configuration.certificateChain = [
        .certificate(try NIOSSLCertificate(bytes: Array(identity.certificate), format: .der))
    ]
    configuration.privateKey = .privateKey(NIOSSLPrivateKey(customPrivateKey: identity.key))
    let context = try NIOSSLContext(configuration: configuration)
    let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connect(
        host: "127.0.0.1",
        port: port
    ) { channel in
        channel.eventLoop.makeCompletedFuture {
            let handler = try NIOSSLClientHandler(context: context, serverHostname: "localhost")
            try channel.pipeline.syncOperations.addHandler(handler)
            return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
        }
    }
    return try await channel.executeThenClose { answers, requests in
        try await requests.write(ByteBuffer(string: "GET / HTTP/1.0\r\n\r\n"))
        var page = ""
        do {
            for try await answer in answers { page += String(buffer: answer) }
        } catch NIOSSLError.uncleanShutdown {
            // openssl closes the connection without an alert.
        }
        return page
    }
}

switch CommandLine.arguments[1] {
case "request":
    let key = Certificate.PrivateKey(try KeychainKey(tag: "org.example.tls"))
    let request = try CertificateSigningRequest(
        version: .v1,
        subject: DistinguishedName { CommonName("anna") },
        privateKey: key,
        attributes: CertificateSigningRequest.Attributes()
    )
    print(try request.serializeAsPEM().pemString)
case "store":
    let text = try String(contentsOfFile: CommandLine.arguments[2], encoding: .utf8)
    try Identity.store(Data(PEMDocument(pemString: text).derBytes), label: "anna")
case "connect":
    let identity = try Identity(label: "anna")
    print(try await page(port: Int(CommandLine.arguments[2])!, trusting: CommandLine.arguments[3], as: identity))
default: fatalError("unknown command")
}
