import KeychaindCommandLine
import KeychaindForeignFiles
import KeychaindGcrypt
import KeychaindLanguage
import SecretServiceClient
import Synchronization

/// Reads another provider through its own Secret Service, on a copy of its files.
struct ProviderReader: Sendable {
    /// A provider on a copy of all its files, or KeePassXC with one database.
    enum Source: Sendable {
        case provider(ForeignProvider)
        case keePassXC(KeePassXC)

        var name: String {
            switch self {
            case .provider(let provider): provider.rawValue
            case .keePassXC: KeePassXC.name
            }
        }
    }

    let source: Source
    let passwords: ImportPasswords
    let messages: any ImportMessages

    private static let tries = 3

    /// The time in which a provider unlocks what needs no dialog.
    private static let timeWithoutDisplay = Duration.seconds(20)

    func read() async throws -> SourceContents {
        let started = try await start()
        let session = started.session
        do {
            try await session.waitForProvider(started.child, source.name)
            let contents = try await readProvider(on: session.bus, startedWith: started.password)
            await session.end()
            return contents
        } catch {
            await session.end()
            try Task.checkCancellation()
            throw failure(error)
        }
    }

    private func start() async throws -> StartedProvider {
        switch source {
        case .provider(let provider): try await provider.startOnCopy(passwords)
        case .keePassXC(let program): try await program.start(passwords, messages)
        }
    }

    private func failure(_ error: any Error) -> any Error {
        guard let error = error as? SecretServiceError else { return error }
        switch error.code {
        case .dismissed, .cancelled:
            return CommandFailure(.cancelled, "the dialog of \(source.name) was dismissed; nothing was imported")
        case .providerGone, .providerUnavailable, .disconnected, .timedOut, .busUnavailable:
            return CommandFailure(.noProvider, "\(source.name) ended or hung while it was read; nothing was imported")
        default:
            return CommandFailure(.failure, "\(source.name) answers: \(error.reason.visible); nothing was imported")
        }
    }

    private func readProvider(
        on bus: SecretBus,
        startedWith startPassword: Password?
    ) async throws -> SourceContents {
        let client = try await SecretClient.connect(SecretClient.Configuration(bus: bus))
        defer { client.close() }
        if case .keePassXC(let program) = source { try await program.waitUntilOpen(client) }
        let login = try await client.collection(alias: "login")
        let standard = try await client.defaultCollection()
        let temporary = try await client.collection(alias: "session")
        var contents = SourceContents()
        var unlocked: [(SecretCollection, SourceKeychain)] = []
        // `login` first: most people have one password for all.
        let all = try await client.collections().sorted { $0 == login && $1 != login }
        // KeePassXC shows a database for a moment before it finds that no group is exposed.
        if case .keePassXC(let program) = source, all.isEmpty { throw program.exposesNothing }
        var known = passwords.given.map { [$0] } ?? []
        // Keychains of which the provider gives nothing away without a dialog of its own.
        var unasked: [(file: String, standard: String?)] = []
        var refusal: SecretServiceError?
        for collection in all {
            let label = try await collection.label().orName(of: collection)
            if collection == temporary || collection.path.hasSuffix("/collection/session") { continue }
            var keychain = SourceKeychain(name: label)
            switch source {
            case .provider(let provider):
                keychain.isDefault = collection == standard
                if let file = provider.fileBehindDialog(of: label, isDefault: keychain.isDefault),
                    try await collection.isLocked()
                {
                    unasked.append((file, keychain.isDefault ? label : nil))
                    continue
                }
                keychain.keepsLabel = provider == .kwallet
                keychain.isLogin =
                    switch provider {
                    case .gnomeKeyring: collection == login || login == nil && collection == standard
                    case .kwallet: label == KWalletLogin.wallet
                    }
                if keychain.isLogin { keychain.password = startPassword }
            case .keePassXC:
                // A database is not what a login opens, and its password is seldom the login's.
                keychain.password = startPassword
            }
            do {
                guard try await unlock(collection, &keychain, &known) else {
                    contents.skipped.append((label, Text("no password opens it")))
                    continue
                }
            } catch let error as SecretServiceError where error.isAboutOneKeychain {
                refusal = refusal ?? error
                contents.skipped.append((label, Text("\(source.name) answers: \(error.reason.visible)")))
                continue
            }
            unlocked.append((collection, keychain))
        }
        contents.keychains = try await readItems(unlocked, client)
        for index in contents.keychains.indices { try await complete(&contents.keychains[index]) }
        if case .provider(let provider) = source {
            let empty = Set(zip(unlocked, contents.keychains).filter(\.1.isEmpty).map(\.0.0.path))
            let shown = Set(all.map(\.path))
            known += contents.keychains.compactMap(\.password)
            for (collection, file) in provider.filesByCollection
            where empty.contains(collection) || !shown.contains(collection) {
                try await readItself(file, known, into: &contents)
            }
            for file in provider.filesOfOthers { try await readItself(file, known, into: &contents) }
            for (file, standard) in unasked { try await readItself(file, known, standard, into: &contents) }
        }
        if unlocked.isEmpty, contents.keychains.isEmpty, !contents.skipped.isEmpty {
            if let refusal { throw refusal }
            throw passwords.cannotAsk
                ?? CommandFailure(
                    passwords.given == nil ? .locked : .wrongPassword,
                    "no keychain of \(source.name) could be opened with a password; nothing was imported"
                )
        }
        return contents
    }

    /// Reads a file that the provider's program shows empty or not at all, as it does if it cannot read it.
    ///
    /// Throws if the person cancels; what cannot be read is noted.
    private func readItself(
        _ file: String,
        _ known: [Password],
        _ standard: String? = nil,
        into contents: inout SourceContents
    ) async throws(CommandFailure) {
        do throws(CommandFailure) {
            let reader = FileReader(
                paths: [file],
                known: known,
                standard: standard,
                passwords: passwords,
                messages: messages
            )
            contents.keychains += try await reader.read().keychains
        } catch {
            if error.status == .cancelled { throw error }
            contents.skipped.append((file.split(separator: "/").last.map(String.init) ?? file, error.text))
        }
    }

    /// Completes what KWallet gives of a wallet by what its file has.
    ///
    /// KWallet does not show each entry that its own programs have made, and gives an empty secret for those whose
    /// folder has a slash or that have no name. Those of its own programs it gives without attributes.
    private func complete(_ keychain: inout SourceKeychain) async throws {
        guard case .provider(let provider) = source, let file = provider.walletFile(keychain.name) else { return }
        let known = keychain.password.map { [$0] } ?? []
        let reader = FileReader(
            paths: [file],
            known: known,
            standard: keychain.isDefault ? keychain.name : nil,
            passwords: passwords,
            messages: messages
        )
        let stored: [SourceKeychain]
        do throws(CommandFailure) {
            stored = try await reader.read().keychains
        } catch {
            if error.status == .cancelled { throw error }
            let reason = Text("\(source.name) gives it without a secret; its file may have one")
            for item in keychain.items where item.item.secret.isEmpty {
                keychain.left.append(LeftItem(label: item.item.label, keychain: keychain.name, reason: reason))
            }
            return
        }
        let count = keychain.complete(with: stored)
        guard count > 0 else { return }
        let (name, source) = (keychain.name.visible, source.name)
        messages.tell(
            Text(
                count,
                one: "\(source) does not give \(count) item of “\(name)” whole: it was read from the file.",
                other: "\(source) does not give \(count) items of “\(name)” whole: they were read from the file."
            )
        )
    }

    // MARK: Unlocking

    /// Tries the known passwords and none, then asks; false if nothing opens the collection.
    private func unlock(
        _ collection: SecretCollection,
        _ keychain: inout SourceKeychain,
        _ known: inout [Password]
    ) async throws -> Bool {
        guard try await collection.isLocked() else { return true }
        for password in known + [try Password.empty()] {
            guard let isOpen = try await unlock(collection, with: password) else {
                // It takes no passwords from programs, and shows its own dialog.
                return try await unlockByPrompt(collection)
            }
            guard isOpen else { continue }
            keychain.password = password
            return true
        }
        for _ in 0..<ProviderReader.tries {
            let name = keychain.name.visible
            let question =
                keychain.isLogin
                ? Text("Password of the keychain “\(name)” of \(source.name), usually your login password")
                : Text("Password of the keychain “\(name)” of \(source.name)")
            guard let password = try await passwords.ask(question) else { return false }
            if try await unlock(collection, with: password) == true {
                keychain.password = password
                known.append(password)
                return true
            }
            messages.tell(Text("That is not its password."))
        }
        return false
    }

    /// Whether the password is right; nil if the provider takes none from programs.
    private func unlock(
        _ collection: SecretCollection,
        with password: Password
    ) async throws(SecretServiceError) -> Bool? {
        do throws(SecretServiceError) {
            return try await collection.unlock(with: password.bytes)
        } catch {
            if error.code == .noSuchObject || error.code == .notSupported { return nil }
            throw error
        }
    }

    private func unlockByPrompt(_ collection: SecretCollection) async throws(SecretServiceError) -> Bool {
        guard DisplayEnvironment.hasDisplay else {
            // Unlocked at its start, or by a dialog on no screen.
            do throws(SecretServiceError) {
                try await collection.unlock(prompting: SecretPrompting(timeout: ProviderReader.timeWithoutDisplay))
                return true
            } catch {
                if error.code == .timedOut || error.code == .dismissed { return false }
                throw error
            }
        }
        try await collection.unlock()
        return true
    }

    // MARK: Reading

    private func readItems(
        _ collections: [(SecretCollection, SourceKeychain)],
        _ client: SecretClient
    ) async throws -> [SourceKeychain] {
        var paths: [[SecretItem]] = []
        for (collection, _) in collections { paths.append(try await collection.items()) }
        let total = paths.reduce(0) { $0 + $1.count }
        let counter = Counter { [messages] in messages.progress(Text("Reading"), $0, of: total) }
        defer { messages.finishProgress() }
        var keychains: [SourceKeychain] = []
        for ((_, keychain), paths) in zip(collections, paths) {
            let reader = CollectionReader(client: client, keychain: keychain.name) { counter.add($0) }
            let (items, unread) = try await reader.read(paths)
            var keychain = keychain
            for item in items {
                if let reason = ReservedItems.reason(against: item.item) {
                    keychain.left.append(LeftItem(label: item.item.label, keychain: keychain.name, reason: reason))
                } else if case .provider(let provider) = source,
                    let secret = PortalSecret(item, of: provider, in: keychain)
                {
                    keychain.portalSecrets.append(secret)
                } else {
                    keychain.items.append(item)
                }
            }
            for item in unread {
                let label = (try? await item.label()) ?? item.path
                let reason = Text("\(source.name) does not give it away")
                keychain.left.append(LeftItem(label: label, keychain: keychain.name, reason: reason))
            }
            keychains.append(keychain)
        }
        return keychains
    }
}

extension SourceKeychain {
    /// Takes items from the file of the same keychain that are missing here or have no attributes or secret.
    ///
    /// Returns the number of those that were missing or empty.
    fileprivate mutating func complete(with stored: [SourceKeychain]) -> Int {
        var count = 0
        var unmatched = Dictionary(grouping: items.indices) { items[$0].item.label }
        // Those with attributes first, so that they do not take the place of others with the same label.
        let all = stored.flatMap(\.items)
        for item in all.filter({ !$0.hasNamesOnly }) + all.filter(\.hasNamesOnly) {
            let alike = unmatched[item.item.label] ?? []
            let match =
                alike.first { items[$0].item.attributes == item.item.attributes }
                ?? alike.first { items[$0].item.attributes.isEmpty }
                ?? alike.first { items[$0].isSameEntry(as: item) }
            guard let match else {
                items.append(item)
                count += 1
                continue
            }
            unmatched[item.item.label]?.removeAll { $0 == match }
            let isEmpty = items[match].item.secret.isEmpty && !item.item.secret.isEmpty
            if isEmpty || items[match].item.attributes.isEmpty { items[match] = item }
            if isEmpty { count += 1 }
        }
        for secret in stored.flatMap(\.portalSecrets)
        where !portalSecrets.contains(where: { $0.application == secret.application }) {
            portalSecrets.append(secret)
            count += 1
        }
        return count
    }
}

extension ImportedItem {
    /// Whether it has only the attributes that an entry of KWallet's own programs gets.
    fileprivate var hasNamesOnly: Bool { item.attributes.keys.sorted() == ["server", "type", "user"] }

    /// Whether another item with the same label is the same entry of a wallet, although KWallet gives it otherwise.
    fileprivate func isSameEntry(as other: ImportedItem) -> Bool {
        if item.secret.isEqual(to: other.item.secret) { return true }
        guard let folder = item.attributes["server"], let entry = item.attributes["user"] else { return false }
        return other.item.attributes["server"] == folder && other.item.attributes["user"] == entry
    }
}

extension SecretServiceError {
    /// Whether the other keychains of a provider can still be read.
    fileprivate var isAboutOneKeychain: Bool {
        switch code {
        case .cancelled, .providerGone, .providerUnavailable, .disconnected, .timedOut, .busUnavailable: false
        default: true
        }
    }
}

extension String {
    /// The last part of the path of a collection without a label.
    fileprivate func orName(of collection: SecretCollection) -> String {
        isEmpty ? collection.path.split(separator: "/").last.map(String.init) ?? "" : self
    }
}

/// Counts what several tasks have done.
package final class Counter: Sendable {
    private let count = Mutex(0)
    private let onChange: @Sendable (Int) -> Void

    package init(_ onChange: @escaping @Sendable (Int) -> Void) {
        self.onChange = onChange
    }

    package func add(_ number: Int) {
        onChange(
            count.withLock { count in
                count += number
                return count
            }
        )
    }
}
