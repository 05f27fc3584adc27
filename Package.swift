// swift-tools-version: 6.3

import PackageDescription

let strictSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

// CI sets this variable; a developer's newer compiler may warn without stopping the work.
let settings =
    Context.environment["CI"] == nil ? strictSettings : strictSettings + [.treatAllWarnings(as: .error)]

// As in a package of its own: Swift 6 as it comes.
let exampleSettings: [SwiftSetting] =
    Context.environment["CI"] == nil ? [] : [.treatAllWarnings(as: .error)]

let tutorialDependencies: [Target.Dependency] = [
    "DBus", "LocalAuthentication", "SecretServiceClient", "Security", "SwiftUI", "TestSupport", "keychaind",
]
let tutorials = ["Biometrics", "Controls", "Credentials", "Note", "Wrapper"]

// The code of tutorials, unchanged, in both language modes: Tests/Tutorials/README.md.
let tutorialTargets = tutorials.flatMap { tutorial -> [Target] in
    [
        .testTarget(
            name: "Tutorial\(tutorial)Tests",
            dependencies: tutorialDependencies,
            path: "Tests/Tutorials/\(tutorial)"
        ),
        .testTarget(
            name: "Tutorial\(tutorial)Swift5Tests",
            dependencies: tutorialDependencies,
            path: "Tests/Tutorials/Swift5/\(tutorial)",
            swiftSettings: [.swiftLanguageMode(.v5)]
        ),
    ]
}

let package = Package(
    name: "keychaind",
    products: [
        .executable(name: "keychaind", targets: ["keychaind"]),
        .library(name: "LocalAuthentication", targets: ["LocalAuthentication"]),
        .library(name: "SecretServiceClient", targets: ["SecretServiceClient"]),
        .library(name: "Security", targets: ["Security"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-asn1.git", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.6.0"),
    ],
    targets: tutorialTargets + [
        // System libraries: only what Swift cannot import itself.
        .systemLibrary(name: "CDBus", pkgConfig: "dbus-1", providers: [.apt(["libdbus-1-dev"])]),
        .systemLibrary(name: "CGcrypt", providers: [.apt(["libgcrypt20-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CLinux"),
        .systemLibrary(name: "CSeccomp", pkgConfig: "libseccomp", providers: [.apt(["libseccomp-dev"])]),
        // toml++ is C++, of headers alone (libtomlplusplus-dev).
        .target(name: "CTOML"),
        // tpm2-tss (libtss2-dev) by its headers alone; the libraries are loaded where there is a TPM.
        .target(name: "CTPM"),
        // A heap that is overwritten when it is freed, for the program that asks for it.
        .target(name: "CWipingHeap"),
        // The first instructions of a set-gid process.
        .target(name: "CDomain"),

        .target(name: "Configuration", dependencies: ["CTOML"], swiftSettings: settings),
        .target(name: "DBus", dependencies: ["CDBus", "CLinux"], swiftSettings: settings),
        .target(name: "Gcrypt", dependencies: ["CGcrypt"], swiftSettings: settings),
        .target(name: "Hardening", dependencies: ["CLinux", "CSeccomp", "CWipingHeap"], swiftSettings: settings),
        .target(name: "Rights", dependencies: ["CLinux"], swiftSettings: settings),
        .target(name: "KeychainModel", swiftSettings: settings),
        .target(
            name: "Vault",
            dependencies: [
                "CLinux", "CSQLite", "Gcrypt", "KeychainModel", "Rights",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "Desktop",
            dependencies: ["CLinux", "DBus", "Gcrypt", "Rights", .product(name: "Logging", package: "swift-log")],
            swiftSettings: settings
        ),
        .target(
            name: "Authentication",
            dependencies: [
                "CLinux", "DBus", "Desktop", "Gcrypt", "KeychainModel", "Rights",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "SecretService",
            dependencies: [
                "Authentication", "DBus", "Desktop", "Gcrypt", "KeychainModel", "Vault",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        .target(name: "SecretServiceClient", dependencies: ["CLinux", "DBus", "Gcrypt"], swiftSettings: settings),
        // Apple's API: the targets that use Foundation, whose types are in it.
        .target(
            name: "Security",
            dependencies: [
                "DBus", "Gcrypt", "KeychainModel", "SecretServiceClient",
                .product(name: "SwiftASN1", package: "swift-asn1"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "LocalAuthentication",
            dependencies: ["SecretServiceClient", "Security"],
            swiftSettings: settings
        ),

        // Links the Swift runtime statically: starts faster, needs less memory, and needs no installed Swift.
        // In release only: the tests link this target too and need the shared runtime.
        .executableTarget(
            name: "keychaind",
            dependencies: [
                "Authentication", "CDomain", "CLinux", "CTPM", "Configuration", "DBus", "Desktop", "Gcrypt",
                "Hardening", "KeychainModel", "Rights", "SecretService", "Vault",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings + [.unsafeFlags(["-static-stdlib"], .when(configuration: .release))],
            linkerSettings: [.unsafeFlags(["-static-stdlib"], .when(configuration: .release))]
        ),

        // Not products, so only this package has them: `swift run Credentials`; see Examples/README.md.
        .executableTarget(
            name: "Credentials",
            dependencies: ["LocalAuthentication"],
            path: "Examples/Credentials",
            exclude: ["README.md"],
            swiftSettings: exampleSettings
        ),
        .executableTarget(
            name: "KeychainWrapper",
            dependencies: ["Security"],
            path: "Examples/KeychainWrapper",
            exclude: ["README.md"],
            swiftSettings: exampleSettings
        ),
        .executableTarget(
            name: "FromOtherLanguages",
            dependencies: ["Security"],
            path: "Examples/FromOtherLanguages",
            exclude: [
                "README.md", "everyone.sh", "with_libsecret.py", "with_secret_tool.sh", "with_secretstorage.py",
            ],
            swiftSettings: exampleSettings
        ),

        .executableTarget(
            name: "Notes",
            dependencies: ["Gcrypt", "LocalAuthentication"],
            path: "Examples/Notes",
            exclude: ["README.md"],
            swiftSettings: exampleSettings
        ),
        .executableTarget(
            name: "TouchSimulator",
            dependencies: ["TestSupport"],
            path: "Examples/TouchSimulator",
            exclude: ["README.md"],
            swiftSettings: exampleSettings
        ),

        // Not products: `make bench` prints what the parts cost, and what a program on the bus sees of that.
        .target(
            name: "BenchmarkSupport",
            dependencies: ["CGcrypt", "CLinux", "Gcrypt"],
            path: "Benchmarks/Support",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "ServiceBenchmark",
            dependencies: ["BenchmarkSupport", "CDBus", "CLinux", "DBus", "Gcrypt", "Security"],
            path: "Benchmarks/Service",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "Microbenchmarks",
            dependencies: [
                "BenchmarkSupport", "CLinux", "DBus", "Gcrypt", "KeychainModel", "Vault",
                .product(name: "Logging", package: "swift-log"),
            ],
            path: "Benchmarks/Micro",
            swiftSettings: settings
        ),

        .target(
            name: "TestSupport",
            dependencies: ["DBus", "Gcrypt", .product(name: "Logging", package: "swift-log")],
            path: "Tests/TestSupport",
            swiftSettings: settings
        ),
        .testTarget(
            name: "DBusTests",
            dependencies: ["CDBus", "CLinux", "DBus", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(name: "ConfigurationTests", dependencies: ["Configuration"], swiftSettings: settings),
        .testTarget(name: "GcryptTests", dependencies: ["Gcrypt", "TestSupport"], swiftSettings: settings),
        .testTarget(
            name: "KeychainModelTests",
            dependencies: ["KeychainModel", "TestSupport"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "VaultTests",
            dependencies: [
                "CSQLite", "Gcrypt", "KeychainModel", "TestSupport", "Vault",
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["Fixtures"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "DesktopTests",
            dependencies: [
                "DBus", "Desktop", "Gcrypt", "TestSupport", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "AuthenticationTests",
            dependencies: [
                "Authentication", "DBus", "Desktop", "Gcrypt", "KeychainModel", "TestSupport",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "SecretServiceTests",
            dependencies: [
                "Authentication", "DBus", "Desktop", "Gcrypt", "KeychainModel", "SecretService", "TestSupport",
                "Vault",
                "keychaind",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "SecretServiceClientTests",
            dependencies: ["DBus", "SecretServiceClient", "SecretServiceClientProbe", "TestSupport", "keychaind"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "SecurityTests",
            dependencies: ["SecretServiceClient", "Security", "TestSupport", "keychaind"],
            exclude: ["Samples"],
            swiftSettings: settings
        ),
        // The examples, driven as a person would.
        .testTarget(
            name: "ExampleTests",
            dependencies: [
                "Credentials", "FromOtherLanguages", "KeychainWrapper", "Notes", "TestSupport", "TouchSimulator",
                "keychaind",
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "LocalAuthenticationTests",
            dependencies: [
                "DBus", "LocalAuthentication", "SecretServiceClient", "Security", "TestSupport", "keychaind",
            ],
            swiftSettings: settings
        ),
        // Stands in for Apple's in those tests.
        .target(name: "SwiftUI", path: "Tests/Tutorials/SwiftUI", swiftSettings: settings),
        // A program of its own, since it looks at what the library does to its process.
        .executableTarget(
            name: "SecretServiceClientProbe",
            dependencies: ["CGcrypt", "CLinux", "SecretServiceClient"],
            path: "Tests/SecretServiceClientProbe",
            swiftSettings: settings
        ),
        // Likewise: what it does to itself would be done to all tests.
        .executableTarget(
            name: "HardeningProbe",
            dependencies: ["CHardeningProbe", "Hardening"],
            path: "Tests/HardeningProbe/Swift",
            swiftSettings: settings
        ),
        .target(name: "CHardeningProbe", path: "Tests/HardeningProbe/C"),
        .testTarget(
            name: "KeychaindTests",
            dependencies: ["DBus", "Gcrypt", "HardeningProbe", "SecretService", "TestSupport", "keychaind"],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)

// `SUITES=VaultTests,GcryptTests` builds only these suites and their dependencies.
if let suites = Context.environment["SUITES"], !suites.isEmpty {
    var needed: Set<String> = []
    var pending = suites.split(separator: ",").map(String.init)
    while let name = pending.popLast() {
        guard needed.insert(name).inserted else { continue }
        let dependencies = package.targets.first { $0.name == name }?.dependencies ?? []
        for case .byNameItem(let dependency, _) in dependencies { pending.append(dependency) }
    }
    package.targets.removeAll { target in !needed.contains(target.name) }
    package.products = []
}
