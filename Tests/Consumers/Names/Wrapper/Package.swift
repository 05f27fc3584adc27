// swift-tools-version: 5.9

import PackageDescription

// A wrapper that does not know of module aliases.
let package = Package(
    name: "Wrapper",
    products: [.library(name: "Wrapper", targets: ["Wrapper"])],
    dependencies: [.package(path: "../../keychaind")],
    targets: [
        .target(
            name: "Wrapper",
            dependencies: [.product(name: "Security", package: "keychaind", condition: .when(platforms: [.linux]))]
        )
    ]
)
