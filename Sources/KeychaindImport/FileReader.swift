import KeychaindCommandLine
import KeychaindDBus
import KeychaindForeignFiles
import KeychaindGcrypt
import KeychaindLanguage

/// Reads files of other programs, without those programs.
struct FileReader: Sendable {
    let paths: [String]
    /// ImportPasswords that have opened others.
    var known: [Password] = []
    /// The name of the keychain for new items; nil if the files are of no provider.
    var standard: String?
    let passwords: ImportPasswords
    let messages: any ImportMessages

    private static let tries = 3

    /// What an import holds in memory at most: items, and bytes of secrets.
    static let limits = (items: 200_000, bytes: 512 << 20)

    /// Reads each file by itself: one that cannot be read stays behind, unless none can.
    func read() async throws(CommandFailure) -> SourceContents {
        var contents = SourceContents()
        var known = known
        var failures: [CommandFailure] = []
        for path in paths {
            do throws(CommandFailure) {
                contents.keychains += try await read(path, &known)
            } catch {
                if error.status == .cancelled { throw error }
                contents.skipped.append((path.split(separator: "/").last.map(String.init) ?? path, error.text))
                failures.append(error)
            }
            try contents.check(path)
        }
        if let failure = failures.first, failures.count == paths.count { throw failure }
        return contents
    }

    private func read(_ path: String, _ known: inout [Password]) async throws(CommandFailure) -> [SourceKeychain] {
        guard try FileReader.needsPassword(path) else {
            return try await read(path, with: try FileReader.emptyPassword(path)).get()
        }
        if let given = passwords.given { known.append(given) }
        for password in known {
            if let keychains = try await open(path, with: password) { return keychains }
        }
        for _ in 0..<FileReader.tries {
            guard let password = try await passwords.ask(Text("Password of \(path.visible)")) else { break }
            if let keychains = try await open(path, with: password) {
                known.append(password)
                return keychains
            }
            messages.tell(Text("That is not its password."))
        }
        throw passwords.cannotAsk
            ?? CommandFailure(
                known.isEmpty ? .locked : .wrongPassword,
                "\(path.visible) could not be opened with a password"
            )
    }

    /// The keychains of a file; nil if the password is wrong.
    private func open(_ path: String, with password: Password) async throws(CommandFailure) -> [SourceKeychain]? {
        switch await read(path, with: password) {
        case .success(let keychains): return keychains
        case .failure(let failure) where failure.status == .wrongPassword: return nil
        case .failure(let failure): throw failure
        }
    }

    // MARK: One file

    private static func needsPassword(_ path: String) throws(CommandFailure) -> Bool {
        do throws(ForeignFileError) {
            return try ForeignFile(path: path).format.needsPassword
        } catch {
            throw error.failure(of: path)
        }
    }

    private static func emptyPassword(_ path: String) throws(CommandFailure) -> Password {
        do throws(GcryptError) {
            return try Password.empty()
        } catch {
            throw CommandFailure(.failure, "\(path.visible): \(error.reason)")
        }
    }

    private func read(
        _ path: String,
        with password: Password
    ) async -> Result<[SourceKeychain], CommandFailure> {
        await BlockingThread.run { () -> Result<[SourceKeychain], CommandFailure> in
            do {
                return .success(try readNow(path, with: password))
            } catch {
                if let failure = error as? CommandFailure { return .failure(failure) }
                if let error = error as? ForeignFileError { return .failure(error.failure(of: path)) }
                return .failure(CommandFailure(.failure, "\(path.visible) cannot be read"))
            }
        }
    }

    /// Blocks.
    private func readNow(_ path: String, with password: Password) throws -> [SourceKeychain] {
        let file = try ForeignFile(path: path)
        let format = file.format
        var keychains: [SourceKeychain] = []
        var size = (items: 0, bytes: 0)
        let summary = try file.read(password: password.bytes) { item in
            size.items += 1
            size.bytes += item.secret.count
            guard size.items <= Self.limits.items, size.bytes <= Self.limits.bytes else {
                throw Self.tooLarge(path)
            }
            keychains.add(ImportedItem(item), format: format, password: password, standard: standard)
        }
        let name = keychains.first?.name ?? "login"
        if !summary.losses.isEmpty, keychains.isEmpty { keychains.append(SourceKeychain(name: name)) }
        for loss in summary.losses {
            keychains[0].left.append(LeftItem(label: loss.item, keychain: name, reason: Text(verbatim: loss.reason)))
        }
        for (name, count) in summary.unknown.sorted(by: { $0.key < $1.key }) {
            messages.tell(
                Text("“\(name.visible)” is not known: each of its \(count) values becomes a secret of its own.")
            )
        }
        return keychains
    }

    static func tooLarge(_ path: String) -> CommandFailure {
        CommandFailure(
            .badData,
            "\(path.visible) has more than \(limits.items) items or \(limits.bytes >> 20) MiB of secrets; split it"
        )
    }
}

extension SourceContents {
    fileprivate func check(_ path: String) throws(CommandFailure) {
        guard itemCount <= FileReader.limits.items else { throw FileReader.tooLarge(path) }
    }
}

extension [SourceKeychain] {
    fileprivate mutating func add(
        _ item: ImportedItem,
        format: ForeignFile.Format,
        password: Password,
        standard: String?
    ) {
        let name = item.item.keychain
        var index = firstIndex { $0.name == name } ?? endIndex
        if index == endIndex {
            var keychain = SourceKeychain(name: name)
            keychain.isDefault = name == standard
            keychain.isLogin = format.opensAtLogin(name)
            keychain.keepsLabel = format == .kWallet
            if format.needsPassword { keychain.password = password }
            append(keychain)
            index = endIndex - 1
        }
        if let reason = ReservedItems.reason(against: item.item) {
            self[index].left.append(LeftItem(label: item.item.label, keychain: name, reason: reason))
        } else if let provider = format.provider,
            let secret = PortalSecret(item, of: provider, in: self[index])
        {
            self[index].portalSecrets.append(secret)
        } else {
            self[index].items.append(item)
        }
    }
}

extension ForeignFile.Format {
    /// The provider whose file it is, which may have secrets for its portal; nil for tables and exports.
    fileprivate var provider: ForeignProvider? {
        switch self {
        case .gnomeKeyring, .gnomeKeyringText, .fileBackend: .gnomeKeyring
        case .kWallet: .kwallet
        case .table, .bitwarden, .credentialExchange: nil
        }
    }

    /// Whether the items belong into `login`, as those of tables, which are of no keychain.
    fileprivate func opensAtLogin(_ keychain: String) -> Bool {
        switch self {
        case .gnomeKeyring, .gnomeKeyringText, .fileBackend: keychain.lowercased() == "login"
        case .kWallet: keychain == KWalletLogin.wallet
        case .table, .bitwarden, .credentialExchange: true
        }
    }
}

extension ForeignFileError {
    /// The failure of an import; names of the file are escaped.
    fileprivate func failure(of path: String) -> CommandFailure {
        let status: ExitStatus =
            switch code {
            case .notRecognized, .unsupported, .damaged, .tooLarge: .badData
            case .wrongPassword: .wrongPassword
            case .unreadable: .inputOutput
            case .outOfMemory: .failure
            }
        return CommandFailure(status, "\(path.visible): \(message.visible)")
    }
}
