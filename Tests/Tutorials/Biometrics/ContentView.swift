// What stands between "The text" and "Its end" is the text, byte for byte; the rest is what its reader has to add.
// swift-format-ignore-file

import SwiftUI

struct SecretView: View {
    var body: some View { Text("The secret") }
}

// The text:
struct ContentView: View {
@State private var bio = BiometricService()
var body: some View {
Group {
if bio.isAuthenticated {
SecretView()
} else {
VStack {
if bio.biometryType == .faceID {
Image(systemName: "faceid").font(.largeTitle)
}
Button("Authenticate") {
Task { await bio.authenticate() }
}
}
}
}
.onAppear { bio.checkAvailability() }
}
}
// Its end.
