// swift-tools-version: 5.9

import PackageDescription

// A package that uses Apple's keychain only where there is one.
let package = Package(
    name: "Stranger",
    products: [.library(name: "Stranger", targets: ["Stranger"])],
    targets: [.target(name: "Stranger")]
)
