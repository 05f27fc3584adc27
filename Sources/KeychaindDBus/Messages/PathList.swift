import Glibc

/// The object paths in a list argument of a message, in order.
///
/// They point into the message, which it keeps: strings for the 100,000 paths of a call would take long to make and to
/// free.
@BusActor
package final class PathList {
    /// Valid as long as the message.
    private struct Path: Hashable {
        let text: UnsafePointer<CChar>
        let count: Int

        static func == (first: Path, second: Path) -> Bool {
            first.count == second.count && memcmp(first.text, second.text, first.count) == 0
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(bytes: UnsafeRawBufferPointer(start: text, count: count))
        }
    }

    private let message: Message
    private var paths: [Path] = []

    /// Reads the list.
    ///
    /// - Parameters:
    ///   - skipped: the number of arguments before the list.
    ///   - limit: the most paths; a list with more throws `LimitsExceeded`.
    ///   - areDistinct: whether a repeated path is left out.
    package init(
        of message: Message,
        after skipped: Int = 0,
        limit: Int,
        areDistinct: Bool = false
    ) throws(BusError) {
        self.message = message
        var reader = message.makeReader()
        for _ in 0..<skipped { reader.skip() }
        var elements = try reader.beginArray()
        var seen: Set<Path> = []
        var count = 0
        while !elements.isAtEnd {
            guard count < limit else { throw Reader.tooMany(limit) }
            count += 1
            let path = try elements.withObjectPath { text in Path(text: text, count: strlen(text)) }
            if !areDistinct || seen.insert(path).inserted { paths.append(path) }
        }
    }

    package var count: Int { paths.count }

    package subscript(number: Int) -> ObjectPath {
        ObjectPath(unchecked: String(cString: paths[number].text))
    }

    /// The paths, each made when it is needed.
    package var all: some Sequence<ObjectPath> {
        paths.lazy.map { ObjectPath(unchecked: String(cString: $0.text)) }
    }
}
