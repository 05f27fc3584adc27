import Foundation
import KeychaindTestSupport
import Security
import Testing

/// Keys, certificates and files that openssl makes in a folder of its own.
struct OpenSSL {
    private let folder: TemporaryFolder

    /// Makes the root certificate `ca`.
    init() async throws {
        folder = try TemporaryFolder()
        try await run(
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-subj",
            "/CN=Root",
            "-keyout",
            "ca.key",
            "-out",
            "ca.pem"
        )
    }

    /// Runs a command in the folder.
    func run(_ arguments: String...) async throws {
        try await run(arguments)
    }

    /// Runs a command in the folder.
    func run(_ arguments: [String]) async throws {
        let script = #"cd "$0" && exec openssl "$@""#
        let result = try await Command.run("/bin/sh", ["-c", script, folder.path] + arguments)
        try #require(result.succeeded, "\(result.errors)")
    }

    /// Makes a private key and a certificate of the root, `NAME.key` and `NAME.pem`.
    func issue(_ name: String, key: [String], subject: String) async throws {
        try await run(
            ["req", "-new", "-newkey"] + key + [
                "-nodes", "-subj", subject, "-keyout", name + ".key", "-out", name + ".csr",
            ]
        )
        try await run(
            "x509",
            "-req",
            "-in",
            name + ".csr",
            "-CA",
            "ca.pem",
            "-CAkey",
            "ca.key",
            "-days",
            "30",
            "-out",
            name + ".pem"
        )
    }

    /// Makes a PKCS #12 file of such a pair and the root.
    func archive(_ name: String, password: String, _ options: [String] = []) async throws -> Data {
        try await run(
            ["pkcs12", "-export", "-inkey", name + ".key", "-in", name + ".pem", "-certfile", "ca.pem", "-passout"]
                + ["pass:" + password, "-out", name + ".p12"] + options
        )
        return try data(name + ".p12")
    }

    /// The certificate of a name.
    func certificate(_ name: String) async throws -> SecCertificate {
        try await run("x509", "-in", name + ".pem", "-outform", "DER", "-out", name + ".der")
        return try #require(SecCertificateCreateWithData(nil, try data(name + ".der") as CFData))
    }

    /// The contents of a file in the folder.
    func data(_ name: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: folder.path(name)))
    }
}
