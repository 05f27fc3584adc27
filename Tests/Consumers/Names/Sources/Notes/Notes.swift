/// The name of this module.
public let nameOfNotes = "Notes"
