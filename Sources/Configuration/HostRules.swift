/// What this computer may do by itself.
package struct HostRules: Hashable, Sendable {
    /// Whether it unlocks `login` when keychaind starts, if that has a key slot of the computer.
    package var unlocksAtStart = false

    /// Where its TPM is, as tpm2-tss spells it.
    package var tpm = "device:/dev/tpmrm0"

    /// The rules without a configuration.
    package init() {}
}
