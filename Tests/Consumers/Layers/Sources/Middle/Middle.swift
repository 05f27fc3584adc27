import Base
import Security

/// Whether the layer below works.
public func isUsable() -> Bool {
    service("Layers") == "Layers" && context(Data("own".utf8)).isCredentialSet(.applicationPassword)
}
