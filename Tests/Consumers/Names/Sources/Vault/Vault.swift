/// The name of this module.
public let nameOfVault = "Vault"
