/// The name of this module.
public let nameOfDBus = "DBus"
