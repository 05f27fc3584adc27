/// Prints the cost of keychaind's parts, one per row: `swift run -c release Microbenchmarks [TEXT]`.
///
/// TEXT selects the rows whose name contains it. To add a row, add a line to a file in `Rows`; to add a file, name it
/// in ``rows(of:)``.
@main
enum Microbenchmarks {
    @MainActor
    static func main() async throws {
        var table = Table(filter: CommandLine.arguments.dropFirst().first ?? "")
        table.printHeader()
        try await rows(of: &table)
    }

    @MainActor
    private static func rows(of table: inout Table) async throws {
        try addCryptographyRows(to: &table)
        addMarshallingRows(to: &table)
        try await addVaultRows(to: &table)
    }
}
