/// Prints what the parts of keychaind cost, a row each: `swift run -c release Microbenchmarks [TEXT]`.
///
/// With a text only the rows run whose name contains it. To add a row, add a line to a file in `Rows`; to add a file of rows, name it
/// in ``rows(of:)``.
@main
enum Microbenchmarks {
    static func main() throws {
        var table = Table(filter: CommandLine.arguments.dropFirst().first ?? "")
        table.printHeader()
        try rows(of: &table)
    }

    private static func rows(of table: inout Table) throws {
        try addCryptographyRows(to: &table)
    }
}
