import KeychaindBenchmarkSupport
import KeychaindGcrypt

/// Adds the rows of `Gcrypt`.
func addCryptographyRows(to table: inout Table) throws {
    _ = try Gcrypt.initialize(lockedBytes: 256 * 1024)
    try addSealingRows(to: &table)
    try addDerivationRows(to: &table)
    try addSessionRows(to: &table)
}

private func addSealingRows(to table: inout Table) throws {
    let raw = try SecureBytes.random(count: 32, in: .locked)
    let key = try SealingKey(raw)
    let context = try SecureBytes.random(count: 40)
    for size in [32, 1024] {
        let plaintext = try SecureBytes.random(count: size)
        try plaintext.withUnsafeBytes { plaintext in
            try context.withUnsafeBytes { context in
                let sealed = try SecureBytes(copying: key.seal(plaintext, associatedData: context))
                var buffer = try SecureBytes(count: size)
                try table.row("seal \(size) B") { keep(try key.seal(plaintext, associatedData: context)) }
                try sealed.withUnsafeBytes { sealed in
                    try table.row("open \(size) B") { keep(try key.open(sealed, associatedData: context)) }
                    try buffer.withUnsafeMutableBytes { buffer in
                        try table.row("open \(size) B into a buffer") {
                            keep(try key.open(sealed, associatedData: context, into: buffer))
                        }
                    }
                }
            }
        }
    }
    try table.row("make a sealing key") { keep(try SealingKey(raw)) }
    try table.row("allocate 32 B of ordinary memory") { keep(try SecureBytes(count: 32)) }
    try table.row("allocate 32 B of locked memory") { keep(try SecureBytes(count: 32, in: .locked)) }
    try table.row("12 random bytes") { keep(try RandomBytes.nonce(12)) }
}

private func addDerivationRows(to table: inout Table) throws {
    let key = try SecureBytes.random(count: 32, in: .locked)
    let code = try HMACSHA256(key: key)
    let message = try SecureBytes.random(count: 30)
    try message.withUnsafeBytes { message in
        try table.row("HMAC tag of 30 B") { keep(try code.tag(message)) }
        try table.row("HMAC of 30 B") { keep(try code.authenticate(message)) }
    }
    try table.row("HKDF of 32 B") { keep(try HKDFSHA256.derive(from: key, info: [1], count: 32, in: .locked)) }
    let password = try SecureBytes.random(count: 10, in: .locked)
    let salt = try RandomBytes.nonce(16)
    let parameters = Argon2id(memoryKiB: 64 * 1024, iterations: 3, lanes: 1)
    try table.row("Argon2id, 64 MiB, t = 3, p = 1") {
        keep(try parameters.derive(password: password, salt: salt, count: 32))
    }
}

private func addSessionRows(to table: inout Table) throws {
    let peer = try DiffieHellman(.oakley2).publicKey
    let exponent = try SecureBytes.random(count: 32)
    for isSecure in [false, true] {
        let power = ModularPower(base: peer, exponent: exponent, isSecure: isSecure)
        table.row("bare modular power\(isSecure ? ", secure" : "")") { power.compute() }
    }
    try table.row("DH handshake") {
        let pair = try DiffieHellman(.oakley2)
        let cipher = try SessionCipher(
            sharedSecret: peer.span.bytes.withUnsafeBytes { try pair.sharedSecret(with: $0) }
        )
        keep(cipher)
    }
    table.ratio("DH handshake", to: ["bare modular power", "bare modular power"])
    let cipher = try SessionCipher(sharedSecret: SecureBytes.random(count: 128))
    let plaintext = try SecureBytes.random(count: 32)
    try plaintext.withUnsafeBytes { plaintext in
        let (iv, ciphertext) = try cipher.encrypt(plaintext)
        try table.row("encrypt 32 B for a session") { keep(try cipher.encrypt(plaintext).ciphertext) }
        try ciphertext.span.withUnsafeBytes { ciphertext in
            try iv.span.withUnsafeBytes { iv in
                try table.row("decrypt 32 B of a session") { keep(try cipher.decrypt(ciphertext, iv: iv)) }
            }
        }
    }
}
