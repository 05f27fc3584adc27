/// The name of this module.
public let nameOfExamples = "Examples"
