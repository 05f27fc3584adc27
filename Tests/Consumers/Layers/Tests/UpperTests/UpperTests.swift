import Base
import Middle
import Security
import Testing

@Test("Tests use a layer and the one below it")
func layers_areUsable() {
    #expect(isUsable() && service("x") == "x" && errSecItemNotFound == -25300)
}
