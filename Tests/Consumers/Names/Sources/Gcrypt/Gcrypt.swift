/// The name of this module.
public let nameOfGcrypt = "Gcrypt"
