import KeychaindDBus
import KeychaindDesktop
import KeychaindModel
import KeychaindVault

/// The object that restores keychains from files, checks files and takes what is intact out of a damaged one.
struct BackupsObject {
    let restorations: Restorations
    let client: Client

    @BusActor static let kind = ObjectKind<BackupsObject>([
        Interface(
            InterfaceName.backups,
            methods: [
                Method(
                    suspending: "Restore",
                    in: [Parameter("file", FileDescriptor.self)],
                    out: [Parameter("prompt", ObjectPath.self)]
                ) { (object, call) async throws(BusError) in
                    let file = try call.arguments(FileDescriptor.self)
                    call.reply(with: try await object.restore(file))
                },
                Method(suspending: "List", out: [Parameter("copies", signature: "a" + StoredCopy.signature)]) {
                    (object, call) async throws(BusError) in
                    try await object.checkUser()
                    try object.answer(call, with: try await object.restorations.copies(for: object.client))
                },
                Method(suspending: "BackUp", out: [Parameter("copies", signature: "a" + StoredCopy.signature)]) {
                    (object, call) async throws(BusError) in
                    try await object.checkUser()
                    try object.answer(call, with: try await object.restorations.backUp(for: object.client))
                },
                Method(
                    suspending: "RestoreCopy",
                    in: [Parameter("copy", String.self)],
                    out: [Parameter("prompt", ObjectPath.self)]
                ) { (object, call) async throws(BusError) in
                    let copy = try call.arguments(String.self)
                    call.reply(with: try await object.restore(copy: copy))
                },
                Method(
                    suspending: "Compare",
                    in: [Parameter("copy", String.self)],
                    out: [Parameter("differences", signature: "a" + ItemDifference.signature)]
                ) { (object, call) async throws(BusError) in
                    let copy = try call.arguments(String.self)
                    let differences = try await object.pastItems(of: copy).differences(for: object.client)
                    call.reply { writer in
                        writer.writeArray(of: ItemDifference.signature) { writer in
                            for difference in differences { difference.write(to: &writer) }
                        }
                    }
                },
                Method(
                    suspending: "RestoreItems",
                    in: [Parameter("copy", String.self), Parameter("labels", [String].self)],
                    out: [Parameter("restored", UInt32.self), Parameter("refused", [String].self)]
                ) { (object, call) async throws(BusError) in
                    var reader = call.message.makeReader()
                    let copy = try String(from: &reader)
                    let labels = try [String](from: &reader, limit: PastItems.labelsPerCall)
                    let past = try await object.pastItems(of: copy)
                    let (restored, refused) = try await past.restore(labels, for: object.client)
                    call.reply(with: restored, refused)
                },
                Method(suspending: "Files", out: [Parameter("files", [String].self)]) {
                    (object, call) async throws(BusError) in
                    try await object.checkUser()
                    let files = try await object.restorations.checkableFiles(for: object.client)
                    try object.client.checkUnconfined()
                    call.reply(with: files)
                },
                Method(
                    suspending: "Check",
                    in: [Parameter("file", String.self)],
                    out: [
                        Parameter("items", UInt64.self), Parameter("intact", UInt64.self),
                        Parameter("depth", UInt8.self), Parameter("findings", [String].self),
                    ]
                ) { (object, call) async throws(BusError) in
                    let file = try call.arguments(String.self)
                    try await object.checkUser()
                    let report = try await object.restorations.check(file, for: object.client)
                    try object.client.checkUnconfined()
                    call.reply(
                        with: UInt64(report.items),
                        UInt64(report.intact),
                        report.depth.rawValue,
                        report.findings
                    )
                },
                Method(
                    suspending: "Salvage",
                    in: [Parameter("file", String.self)],
                    out: [Parameter("prompt", ObjectPath.self)]
                ) { (object, call) async throws(BusError) in
                    let file = try call.arguments(String.self)
                    try await object.checkUser()
                    call.reply(with: try object.salvage(file))
                },
            ]
        )
    ])

    /// Returns a prompt for the salvage of a damaged keychain.
    @BusActor
    private func salvage(_ file: String) throws(BusError) -> ObjectPath {
        let collections = restorations.unlocker.collections
        guard let collection = restorations.vault.collection(ofFile: file) else {
            throw BusError(.noSuchObject, "there is no such keychain")
        }
        guard collection.canBeSalvaged else {
            throw BusError(.notSupported, "the keychain is not damaged, or nothing in it can be read")
        }
        return try client.makePrompt(SalvagePrompt(collection, in: collections, unlocker: restorations.unlocker))
    }

    /// Copies the file and returns a prompt for the restore.
    @BusActor
    private func restore(_ file: FileDescriptor) async throws(BusError) -> ObjectPath {
        try await checkUser()
        let backup = try await restorations.stage(file, for: client)
        return try prompt(for: backup, fileName: BackupsObject.fileName(of: file))
    }

    /// Copies a generation or backup, and returns a prompt for the restore.
    @BusActor
    private func restore(copy id: String) async throws(BusError) -> ObjectPath {
        try await checkUser()
        let backup = try await restorations.stage(copy: id, for: client)
        return try prompt(for: backup, fileName: id.split(separator: ":", maxSplits: 1).last.map(String.init))
    }

    /// Returns a prompt for the restore of a staged copy.
    @BusActor
    private func prompt(for backup: StagedBackup, fileName: String?) throws(BusError) -> ObjectPath {
        try client.checkUnconfined()
        guard let name = restorations.vault.name(of: backup, fileName: fileName) else {
            throw BusError(.invalidArguments, "the keychain in memory cannot be restored")
        }
        return try client.makePrompt(RestorePrompt(backup, as: name, restorations: restorations))
    }

    @BusActor
    private func pastItems(of copy: String) async throws(BusError) -> PastItems {
        try await checkUser()
        let staged = try await restorations.stage(copy: copy, for: client)
        try client.checkUnconfined()
        return try PastItems(staged, restorations)
    }

    @BusActor
    private func checkUser() async throws(BusError) {
        try await client.checkUser(orRefuse: "only the user can use the backups")
    }

    @BusActor
    private func answer(_ call: MethodCall, with copies: [StoredCopy]) throws(BusError) {
        try client.checkUnconfined()
        call.reply { writer in
            writer.writeArray(of: StoredCopy.signature) { writer in
                for copy in copies { copy.write(to: &writer) }
            }
        }
    }

    /// Returns the name of the file when it was opened; it only names a keychain that does not exist yet.
    private static func fileName(of file: FileDescriptor) -> String? {
        let path = ProcessFolder("self", in: "/proc").link("fd/\(file.rawValue)")
        return path?.split(separator: "/").last.map { String($0) }
    }
}

extension StoredCopy {
    /// The D-Bus structure: identifier, label of the keychain, last change in seconds since 1970, number of items.
    static let signature = "(sstt)"

    func write(to writer: inout Writer) {
        writer.writeStructure { writer in
            id.write(to: &writer)
            label.write(to: &writer)
            modified.seconds.write(to: &writer)
            UInt64(itemCount).write(to: &writer)
        }
    }
}

extension ItemDifference {
    /// The D-Bus structure: kind, number of the item, label, whether it is protected.
    static let signature = "(ytsb)"

    func write(to writer: inout Writer) {
        writer.writeStructure { writer in
            kind.rawValue.write(to: &writer)
            item.rawValue.write(to: &writer)
            label.write(to: &writer)
            isProtected.write(to: &writer)
        }
    }
}
