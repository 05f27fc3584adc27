import KeychaindGcrypt
import KeychaindKeys
import KeychaindTPM
import KeychaindTestSupport
import KeychaindVault
import Testing

/// Keys of a TPM, without a daemon.
struct TPMKeysTests {
    private static let digest = [UInt8](repeating: 0xa5, count: 32)

    private func keys(of tpm: SoftwareTPM) -> TPMKeys {
        TPMKeys(ConfiguredTPM(TPM(transport: tpm.transport)))
    }

    private func expectFailure(
        _ codes: Set<KeyError.Code>,
        at location: SourceLocation = #_sourceLocation,
        _ operation: () throws(KeyError) -> Void
    ) {
        do throws(KeyError) {
            try operation()
            Issue.record("the operation succeeded", sourceLocation: location)
        } catch {
            #expect(codes.contains(error.code), "\(error)", sourceLocation: location)
            #expect(!error.reason.isEmpty, sourceLocation: location)
        }
    }

    /// Expects the TPM to hold no object: each takes one of its three places.
    private func expectNothingLoaded(in tpm: SoftwareTPM) async throws {
        for kind in ["handles-transient", "handles-loaded-session"] {
            let handles = try await tpm.unflushedTool("getcap", kind)
            #expect(handles.succeeded, "\(handles.errors)")
            #expect(handles.text.isEmpty, "\(kind): \(handles.text)")
        }
    }

    @Test("A signature and a shared secret are those that another library computes")
    func use_agreesWithAnotherLibrary() async throws {
        let tpm = try await SoftwareTPM()
        let keys = keys(of: tpm)
        let key = try keys.makeKey()
        let signature = try keys.sign(Self.digest, with: key.wrapped)
        let other = try PrimeCurve.p256.makePrivateKey()
        let shared = try keys.multiply(PrimeCurve.p256.publicKey(of: other), by: key.wrapped)
        let result = try await Command.python(
            """
            import sys
            from cryptography.hazmat.primitives.asymmetric import ec, utils
            from cryptography.hazmat.primitives import hashes
            point, digest, signature, scalar, shared = (bytes.fromhex(text) for text in sys.argv[1:])
            public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)
            r, s = (int.from_bytes(half, "big") for half in (signature[:32], signature[32:]))
            public.verify(utils.encode_dss_signature(r, s), digest, ec.ECDSA(utils.Prehashed(hashes.SHA256())))
            private = ec.derive_private_key(int.from_bytes(scalar, "big"), ec.SECP256R1())
            assert private.exchange(ec.ECDH(), public) == shared
            """,
            [
                hex(key.publicKey), hex(Self.digest), hex(signature), hex(other.withUnsafeBytes { Array($0) }),
                hex(shared.withUnsafeBytes { Array($0) }),
            ]
        )
        #expect(result.succeeded, "\(result.errors)")
        try await expectNothingLoaded(in: tpm)
    }

    @Test("A damaged key is an error, wherever the damage is, and leaves nothing in the TPM")
    func use_damagedKey_fails() async throws {
        let tpm = try await SoftwareTPM()
        let keys = keys(of: tpm)
        let key = try keys.makeKey()
        let bytes = key.wrapped.withUnsafeBytes { Array($0) }
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 0x10
            let key = try SecureBytes(copying: damaged)
            expectFailure([.malformedKey, .foreignKey]) { () throws(KeyError) in
                _ = try keys.sign(Self.digest, with: key)
            }
        }
        for bytes in [
            [], Array(bytes.dropLast()), bytes + [0], Array(bytes.prefix(2)), [UInt8](repeating: 0xff, count: 4096),
        ] {
            let key = try SecureBytes(copying: bytes)
            expectFailure([.malformedKey]) { () throws(KeyError) in _ = try keys.sign(Self.digest, with: key) }
        }
        _ = try keys.sign(Self.digest, with: key.wrapped)
        try await expectNothingLoaded(in: tpm)
    }

    @Test("An object of the same TPM that is no signing key is refused")
    func use_objectOfAnotherKind_fails() async throws {
        let tpm = try await SoftwareTPM()
        let keys = keys(of: tpm)
        let host = TPMHost(ConfiguredTPM(TPM(transport: tpm.transport)))
        let sealed = try SecureBytes(copying: host.seal(SecureBytes.random(count: 32)))
        expectFailure([.malformedKey]) { () throws(KeyError) in _ = try keys.sign(Self.digest, with: sealed) }
        let wrapped = try keys.makeKey().wrapped.withUnsafeBytes { Array($0) }
        #expect(throws: VaultError(.hostNotAvailable, reason: "")) { _ = try host.unseal(wrapped) }
        try await expectNothingLoaded(in: tpm)
    }

    @Test(
        "A point that is not on the curve is refused by the TPM itself",
        arguments: [
            [UInt8](repeating: 0, count: 64), [UInt8](repeating: 0xff, count: 64), [UInt8](repeating: 1, count: 64),
        ]
    )
    func multiply_pointOffTheCurve_fails(_ coordinates: [UInt8]) async throws {
        let tpm = try await SoftwareTPM()
        let keys = keys(of: tpm)
        let key = try keys.makeKey()
        expectFailure([.malformedKey]) { () throws(KeyError) in
            _ = try keys.multiply([4] + coordinates, by: key.wrapped)
        }
        try await expectNothingLoaded(in: tpm)
    }

    @Test("A key survives a reboot; after a reset of the TPM, or without it, the error says so")
    func use_afterRebootResetAndRemoval() async throws {
        let tpm = try await SoftwareTPM()
        let keys = keys(of: tpm)
        let key = try keys.makeKey()
        try await tpm.reboot()
        _ = try keys.sign(Self.digest, with: key.wrapped)
        try await tpm.reset()
        expectFailure([.foreignKey]) { () throws(KeyError) in _ = try keys.sign(Self.digest, with: key.wrapped) }
        try await tpm.remove()
        expectFailure([.tokenUnavailable]) { () throws(KeyError) in _ = try keys.sign(Self.digest, with: key.wrapped) }
        expectFailure([.tokenUnavailable]) { () throws(KeyError) in _ = try keys.makeKey() }
    }

    @Test("A TPM whose places are taken says so, and serves again when they are free")
    func use_withoutRoom_saysSo() async throws {
        let tpm = try await SoftwareTPM()
        let keys = keys(of: tpm)
        let key = try keys.makeKey()
        let folder = try TemporaryFolder()
        for index in 0..<3 {
            let result = try await tpm.unflushedTool("createprimary", "-c", folder.path("\(index)"))
            #expect(result.succeeded, "\(result.errors)")
        }
        expectFailure([.tokenUnavailable]) { () throws(KeyError) in _ = try keys.sign(Self.digest, with: key.wrapped) }
        #expect(try await tpm.unflushedTool("flushcontext", "-t").succeeded)
        _ = try keys.sign(Self.digest, with: key.wrapped)
    }

    @Test("A TPM in lockout says so")
    func use_inLockout_saysSo() async throws {
        let tpm = try await SoftwareTPM()
        let keys = keys(of: tpm)
        let key = try keys.makeKey()
        try await tpm.lockOut()
        do throws(KeyError) {
            _ = try keys.sign(Self.digest, with: key.wrapped)
            Issue.record("the TPM has signed")
        } catch {
            #expect(error.code == .tokenUnavailable && error.reason.contains("lockout"), "\(error)")
        }
    }

    @Test("Threads that use the TPM at once take turns")
    func use_byThreadsAtOnce_succeeds() async throws {
        let tpm = try await SoftwareTPM()
        let keys = keys(of: tpm)
        let wrapped = try keys.makeKey().wrapped.withUnsafeBytes { Array($0) }
        try await withThrowingTaskGroup { group in
            for _ in 0..<16 {
                group.addTask { _ = try keys.sign(Self.digest, with: SecureBytes(copying: wrapped)) }
            }
            try await group.waitForAll()
        }
        try await expectNothingLoaded(in: tpm)
    }
}

/// Bytes as hexadecimal digits.
private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
}
