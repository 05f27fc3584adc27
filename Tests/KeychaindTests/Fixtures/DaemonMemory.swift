import Foundation
import KeychaindTestSupport
import Testing

/// A byte pattern that is in memory only if a test puts it there.
///
/// Secrets consist only of it: any sixteen bytes contain the whole pattern.
struct Mark: Sendable {
    private static let count = 8

    let text = String(UUID().uuidString.lowercased().prefix(Mark.count))

    /// A secret of the pattern only.
    func secret(of size: Int) -> [UInt8] {
        Array(String(repeating: text, count: size / Mark.count + 1).utf8.prefix(size))
    }

    /// A password of the pattern only.
    var password: String { String(repeating: text, count: 4) }
}

/// The memory of a daemon, read as root.
struct DaemonMemory {
    private let id: Int32

    init(of daemon: KeychainDaemon) {
        id = daemon.child.id
    }

    /// The memory could not be read.
    struct Unreadable: Error {
        let reason: String
    }

    /// Waits until no pattern is left in memory, without other calls to the daemon.
    func waitUntilGone(
        _ marks: Mark...,
        what: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await waitUntilGone(marks.map(\.text), what: what, sourceLocation: sourceLocation)
    }

    /// Waits until none of the texts is left in memory.
    func waitUntilGone(
        _ texts: [String],
        what: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        do {
            try await eventually("\(what) to be overwritten") {
                // A mapping may end while it is read.
                do { return try await places(of: texts).isEmpty } catch is Unreadable { return false }
            }
        } catch {
            let places = try await places(of: texts)
            Issue.record("\(what) in memory: \(places.joined(separator: ", "))", sourceLocation: sourceLocation)
        }
    }

    /// The mappings that contain the texts, with counts.
    func places(of texts: [String]) async throws -> [String] {
        // As complements, so that the searching process does not contain the texts in its arguments.
        let patterns = texts.map { $0.utf8.map { String(format: "%02x", ~$0) }.joined() }
        let found = try await Command.python(DaemonMemory.scan, [String(id)] + patterns)
        guard found.succeeded else { throw Unreadable(reason: found.errors) }
        return found.text.split(separator: "\n").map(String.init)
    }

    /// Searches all readable memory of the process.
    private static let scan = """
        import sys
        process, patterns = sys.argv[1], [bytes(b ^ 255 for b in bytes.fromhex(a)) for a in sys.argv[2:]]
        mappings = 0
        with open(f'/proc/{process}/mem', 'rb', 0) as memory:
            for line in open(f'/proc/{process}/maps'):
                fields = line.split(maxsplit=5)
                if 'r' not in fields[1] or fields[5:] and fields[5].startswith('[v'):
                    continue
                start, end = (int(a, 16) for a in fields[0].split('-'))
                data = b''
                memory.seek(start)
                while len(data) < end - start:
                    piece = memory.read(end - start - len(data))
                    if not piece:
                        sys.exit('the end of a mapping cannot be read')
                    data += piece
                mappings += 1
                for pattern in patterns:
                    if pattern in data:
                        name = fields[5].strip() if fields[5:] else 'anonymous'
                        print(name, fields[0], data.count(pattern), 'times, first at', hex(start + data.find(pattern)))
        if mappings < 20:
            sys.exit(f'only {mappings} mappings')
        """
}
