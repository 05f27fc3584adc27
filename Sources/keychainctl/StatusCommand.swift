import ArgumentParser
import Glibc
import KeychaindCommandLine
import KeychaindLanguage
import KeychaindSwitch
import SecretServiceClient

struct StatusCommand: ProviderCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the provider, the keychains and what protects them.",
        discussion: "“doctor” finds problems, and says how to solve them."
    )

    @OptionGroup var format: JSONArguments

    func run(_ provider: ProviderAccess) async throws {
        let status = try await ProviderStatus.read(provider.client)
        let keychains = try await KeychainState.all(provider.client)
        if format.json {
            let objects = keychains.map { "{\($0.json)}" }.joined(separator: ", ")
            return try provider.output.line("{\(status.json), \"keychains\": [\(objects)]}")
        }
        let lines = status.lines.map { ($0.localized, $1.localized) }
        let width = max(18, lines.map(\.0.columns).max() ?? 0) + 2
        for (name, value) in lines { try provider.output.line("\(name.padded(to: width))\(value)") }
        try provider.output.line("")
        let table = Table(KeychainState.titles, to: provider.output)
        for keychain in keychains { try table.add(keychain.row) }
        try table.finish()
    }
}

/// The state of a provider; of a foreign one what the standard and the bus say.
struct ProviderStatus: Sendable {
    /// Its program file; nil if the bus or the kernel does not say.
    let program: String?
    let process: Int32?
    /// Nil for a foreign provider.
    let keychaind: Keychaind?

    struct Keychaind: Sendable {
        let status: KeychaindStatus
        let reader: Reader
        let hasTPM: Bool
        let lastBackup: LastBackup
        /// Whether another program file has been installed since it started.
        let isReplaced: Bool
    }

    enum LastBackup {
        /// In seconds since 1970.
        case made(UInt64)
        case none
        case unknown(reason: String)
    }

    enum Reader {
        case ready
        case locked
        case noFingers
        /// No dialog for this program may take a touch.
        case noDialog
        case none
    }

    static func read(_ client: SecretClient) async throws -> ProviderStatus {
        let owner = await SessionBus.open()?.owner()
        var keychaind: Keychaind?
        if let status = try await client.keychaindStatus() {
            keychaind = Keychaind(
                status: status,
                reader: try await reader(client, isScreenLocked: status.isSessionLocked),
                hasTPM: hasTPM(status),
                lastBackup: await lastBackup(client),
                isReplaced: owner?.isReplaced == true
            )
        }
        return ProviderStatus(
            program: owner.map { "\($0.program)" },
            process: owner?.process,
            keychaind: keychaind
        )
    }

    private static func lastBackup(_ client: SecretClient) async -> LastBackup {
        do throws(SecretServiceError) {
            let times = try await client.keychainCopies().filter(\.isBackup).map(\.modified)
            return times.max().map { time in .made(time) } ?? .none
        } catch {
            return .unknown(reason: error.reason)
        }
    }

    /// Whether there is the device, or the socket of the software TPM, of the settings in force.
    private static func hasTPM(_ status: KeychaindStatus) -> Bool {
        let transport = status.isInDomain ? nil : status.settings?.first { $0.hasPrefix("host.tpm = ") }
        let path = transport?.drop { $0 != "/" }.dropLast()
        return access(path.map(String.init) ?? "/dev/tpmrm0", F_OK) == 0
    }

    static func reader(_ client: SecretClient, isScreenLocked: Bool) async throws(SecretServiceError) -> Reader {
        let policy = "deviceOwnerAuthenticationWithBiometrics"
        guard let availability = try await client.authenticationAvailability(policy),
            availability.hasFingerprintReader
        else { return .none }
        guard let obstacle = availability.obstacle else { return .ready }
        if obstacle.hasSuffix("BiometryLockout") { return .locked }
        if obstacle.hasSuffix("NotInteractive") { return isScreenLocked ? .ready : .noDialog }
        return obstacle.hasSuffix("BiometryNotEnrolled") ? .noFingers : .none
    }

    // MARK: For people

    var lines: [(Text, Text)] {
        var lines = [(Text("Provider"), provider)]
        guard let keychaind else {
            lines.append((.empty, Text("Not keychaind: protection, backups and the audit are not available.")))
            return lines
        }
        let status = keychaind.status
        if keychaind.isReplaced {
            lines.append((.empty, Text("older than the installed program; “keychainctl doctor” says more")))
        }
        let prompters = Text.list(status.prompters.map { Text(verbatim: $0.visible) })
        lines += [
            (
                Text("Prompters"),
                status.prompters.isEmpty ? Text("none: nobody can be asked") : Text("\(prompters) (in this order)")
            ),
            (Text("Fingerprint reader"), reader(keychaind.reader)),
            (Text("TPM"), keychaind.hasTPM ? Text("yes") : Text("no")),
            (Text("Screen"), status.isSessionLocked ? Text("locked", context: "the screen") : Text("not locked")),
            (Text("Domain"), status.isInDomain ? Text("yes: closed to your other programs") : Text("no")),
            (Text("Last backup"), backup(keychaind.lastBackup)),
        ]
        return lines
    }

    private var provider: Text {
        let name = keychaind.map { Text("keychaind \($0.status.version.visible)") } ?? Text("another program")
        guard let process else { return name }
        // Translators: a name with a version, and a program file
        return Text("\(name), \(program?.visible ?? "?") (process \(process))")
    }

    private func backup(_ backup: LastBackup) -> Text {
        switch backup {
        case .made(let time): Text("of the state of \(Time.minute(time))")
        case .none: Text("none", context: "backup")
        case .unknown(let reason): Text("not known: \(reason.visible)")
        }
    }

    private func reader(_ reader: Reader) -> Text {
        switch reader {
        case .ready: Text("ready")
        case .locked: Text("locked after failed touches; the password of your login frees it")
        case .noFingers: Text("no finger is enrolled")
        case .noDialog:
            Text("ready, but no dialog here may take a touch: that takes a session on a screen, and keychaind-dialog")
        case .none: Text("none", context: "fingerprint reader")
        }
    }

    var json: String {
        let program = program.map(JSON.string) ?? "null"
        let process = process.map(String.init) ?? "null"
        let head = "\"program\": \(program), \"process\": \(process)"
        guard let keychaind else { return "\"keychaind\": null, \(head)" }
        let status = keychaind.status
        return "\"keychaind\": {\"version\": \(JSON.string(status.version)), "
            + "\"prompters\": [\(status.prompters.map(JSON.string).joined(separator: ", "))], "
            + "\"reader\": \(JSON.string("\(keychaind.reader)")), \"tpm\": \(keychaind.hasTPM), "
            + "\"screen-locked\": \(status.isSessionLocked), \"domain\": \(status.isInDomain), "
            + "\(keychaind.lastBackup.json)}, \(head)"
    }
}

extension ProviderStatus.LastBackup {
    fileprivate var json: String {
        switch self {
        case .made(let time): "\"last-backup\": \(time), \"last-backup-problem\": \"\""
        case .none: "\"last-backup\": null, \"last-backup-problem\": \"\""
        case .unknown(let reason): "\"last-backup\": null, \"last-backup-problem\": \(JSON.string(reason))"
        }
    }
}
