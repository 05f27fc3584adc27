import ArgumentParser
import KeychaindCommandLine
import KeychaindGcrypt
import KeychaindLanguage
import SecretServiceClient

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write all keychains into an encrypted file.",
        discussion: """
            The file has a password of its own, and “keychainctl restore” puts its items back. Locked keychains and \
            protected items ask first. Items that may not leave this computer stay behind and are named.
            """
    )

    @Argument(help: "The file to write.")
    var file: String

    @Flag(help: "Replace an existing file.")
    var force = false

    @Flag(name: .customLong("without-protected"), help: "Leave out the items that ask before each use.")
    var isWithoutProtected = false

    @Option(help: "Read the password of the file from this descriptor instead of asking.")
    var passwordFD: Int32?

    @Flag(help: "Write unencrypted JSON, which anyone can read.")
    var plain = false

    @Flag(name: .customLong("confirm-plain"), help: "Answer the question of --plain, where there is no terminal.")
    var isPlainConfirmed = false

    func validate() throws {
        try Descriptors.check(passwordFD, of: "--password-fd")
        if plain, passwordFD != nil { throw ValidationError("an unencrypted file has no password") }
        if isPlainConfirmed, !plain { throw ValidationError("--confirm-plain needs --plain") }
    }

    func run() async throws {
        try await Interruption.cancelling { [self] interruption in
            // Made first, so that a wrong path costs no answers.
            let target = try NewFile(file, replaces: force)
            try confirmPlain(interruption)
            try await export(to: target, interruption)
        }
    }

    /// Asks a second time before secrets are written unencrypted.
    private func confirmPlain(_ interruption: Interruption) throws(CommandFailure) {
        guard plain, !isPlainConfirmed else { return }
        let answer = try Terminal.ask(
            Text("Everyone who can read \(file.visible) will know all your secrets. Type “yes”: "),
            interruption
        )
        guard let answer else {
            throw CommandFailure(.refused, "unencrypted secrets need --confirm-plain, since there is no terminal")
        }
        guard answer == "yes" else { throw CommandFailure(.cancelled, "nothing was written") }
    }

    private func export(to target: NewFile, _ interruption: Interruption) async throws {
        let export = try await prepare()
        let counts = try await write(export, to: target, interruption)
        try target.finish()
        Terminal.progress(.empty)
        for item in counts.leftBehind { Terminal.tell("left behind: \(item.line)") }
        Terminal.say("\(file.visible): \(counts.summary)")
        guard counts.leftBehind.allSatisfy(\.isExpected) else {
            throw CommandFailure(.incomplete, "some items could not be read; they are named above")
        }
    }

    private func prepare() async throws -> Export {
        do {
            return try await Export.prepare(of: SecretClient.connect(), withProtected: !isWithoutProtected)
        } catch let error as SecretServiceError {
            throw CommandFailure(error)
        }
    }

    private func write(
        _ export: Export,
        to target: NewFile,
        _ interruption: Interruption
    ) async throws -> ExportCounts {
        if plain { return try await export.write(to: PlainExportWriter(target.descriptor, path: file)) }
        let password = try SecureBytes.newPassword(for: Text("the archive"), from: passwordFD, interruption)
        let archive = try ArchiveExportWriter(target.descriptor, path: file, password: password)
        let counts = try await export.write(to: archive)
        try ArchiveCheck.check(target.descriptor, path: file, password: password, items: counts.written)
        return counts
    }
}
