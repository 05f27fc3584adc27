/// An object at a path of its own, with the one peer that may call it.
struct Export {
    let peer: String
    let server: ObjectServer
}
