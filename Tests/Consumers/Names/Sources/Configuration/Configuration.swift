/// The name of this module.
public let nameOfConfiguration = "Configuration"
