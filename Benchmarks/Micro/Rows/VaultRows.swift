import CKeychaindLinux
import Glibc
import KeychaindBenchmarkSupport
import KeychaindGcrypt
import KeychaindModel
import KeychaindVault
import Logging

/// Adds the rows of `Vault`; each has `vault` in its name.
@MainActor
func addVaultRows(to table: inout Table) async throws {
    guard table.wants("vault") else { return }
    for count in [10_000, 100_000] {
        let folder = try BenchmarkFolder()
        defer { folder.remove() }
        try await addRows(to: &table, count: count, folder: folder)
    }
}

private let password = Array("password".utf8)

@MainActor
private func addRows(to table: inout Table, count: Int, folder: BenchmarkFolder) async throws {
    let before = trimmedResidentKiB()
    var vault = try await opened(folder)
    var login = try await unlockedLogin(of: vault)
    let empty = trimmedResidentKiB()
    for number in 0..<count { try await create(number, in: login) }
    print(
        "  vault of \(count): \(trimmedResidentKiB() - empty) KiB resident over empty "
            + "(empty \(empty), at start \(before))"
    )
    try addReadingRows(to: &table, login, count: count)
    try addSyncRows(to: &table, folder)
    try await addWritingRows(to: &table, login, count: count)
    await vault.close()

    vault = try await opened(folder)
    login = try await unlockedLogin(of: vault)
    print("  vault of \(count): \(trimmedResidentKiB() - empty) KiB resident over empty after opening anew")
    await vault.close()

    try await table.asyncRow("vault: open, \(count) items") {
        let vault = try await opened(folder)
        await vault.close()
    }
    try await table.asyncRow("vault: open and unlock, \(count) items") {
        let vault = try await opened(folder)
        _ = try await unlockedLogin(of: vault)
        await vault.close()
    }
    table.ratio("vault: one durable create, \(count) items", to: ["vault: fdatasync of 4 KiB"])
}

@MainActor
private func addReadingRows(to table: inout Table, _ login: Collection, count: Int) throws {
    let wanted: Attributes = ["account": "user \(count / 2)"]
    let several: Attributes = ["account": "user \(count / 2)", "service": "https://example.org/\(count / 2)"]
    guard let id = login.search(wanted).first else { return }
    table.row("vault: search, one hit in \(count)") { keep(login.search(wanted)) }
    table.row("vault: search by two, one hit in \(count)") { keep(login.search(several)) }
    try table.row("vault: secret in \(count)") { keep(try login.secret(of: id)) }
    table.row("vault: item in \(count)") { keep(login.item(id)) }
}

@MainActor
private func addWritingRows(to table: inout Table, _ login: Collection, count: Int) async throws {
    var number = count
    let written = (ProcessUsage.own.writtenBytes ?? 0)
    let calls = number
    try await table.asyncRow("vault: one durable create, \(count) items") {
        try await create(number, in: login)
        number += 1
    }
    if number > calls {
        print("  \(((ProcessUsage.own.writtenBytes ?? 0) - written) / (number - calls)) bytes written a create")
    }
    try await table.asyncRow("vault: 16 durable creates at once, \(count) items") {
        let first = number
        number += 16
        try await createAtOnce(first..<first + 16, in: login)
    }
    guard let id = login.itemIDs.dropFirst(count / 2).first else { return }
    try await table.asyncRow("vault: one durable update, \(count) items") {
        try await login.updateItem(id, secret: Secret(bytes: SecureBytes.random(count: 32), contentType: "text/plain"))
    }
}

@MainActor
private func addSyncRows(to table: inout Table, _ folder: BenchmarkFolder) throws {
    let file = open(folder.path + "/sync", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(file) }
    let page = [UInt8](repeating: 1, count: 4096)
    for number in 0..<256 { pwrite(file, page, page.count, off_t(number * page.count)) }
    fsync(file)
    var number = 0
    table.row("vault: fdatasync of 4 KiB") {
        pwrite(file, page, page.count, off_t(number % 256 * page.count))
        fdatasync(file)
        number += 1
    }
}

@MainActor
private func createAtOnce(_ numbers: Range<Int>, in login: Collection) async throws {
    // All tasks run in the collection's isolation; only their waits overlap.
    let tasks = numbers.map { number in Task { @MainActor in _ = try await create(number, in: login) } }
    for task in tasks { try await task.value }
}

@discardableResult
@MainActor
private func create(_ number: Int, in login: Collection) async throws -> ItemCreation {
    try await login.createItem(
        label: "Password \(number)",
        attributes: [
            "account": "user \(number)", "service": "https://example.org/\(number)", "port": "443", "kind": "web",
            "xdg:schema": "org.example.Password",
        ],
        secret: Secret(bytes: SecureBytes.random(count: 32), contentType: "text/plain"),
        replacing: false
    )
}

@MainActor
private func opened(_ folder: BenchmarkFolder) async throws -> Vault {
    let vault = Vault(
        VaultConfiguration(
            directory: folder.path,
            keyDerivation: Argon2id(memoryKiB: 64, iterations: 1, lanes: 1),
            generations: 0,
            logger: Logger(label: "benchmark") { _ in SwiftLogNoOpLogHandler() }
        )
    )
    try await vault.open()
    return vault
}

@MainActor
private func unlockedLogin(of vault: Vault) async throws -> Collection {
    guard let login = vault.collection(named: .login) else {
        throw VaultError(.noSuchCollection, reason: "there is no login")
    }
    try await login.unlock(with: SecureBytes(copying: password))
    return login
}

/// Returns the resident memory of this process in KiB, without what the allocator can release.
private func trimmedResidentKiB() -> Int {
    malloc_trim(0)
    return ProcessUsage.own.residentKiB ?? 0
}
