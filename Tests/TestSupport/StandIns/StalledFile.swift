import Foundation
import Glibc

/// A regular file on a disk that never answers a read or a write, or not even an opening or a look: a file system in
/// user space that is this one file.
///
/// Mounting it requires root.
package final class StalledFile: Sendable {
    package static let isPossible = geteuid() == 0 && access("/dev/fuse", R_OK | W_OK) == 0

    /// The first operation that it does not answer; nor does it answer those after it.
    package enum Silence: Sendable {
        case look, opening, transfer
    }

    package let path: String

    /// An element for each operation that waits.
    package let transfers: AsyncStream<Void>

    private let device: CInt

    package init(in folder: String, named name: String = "stalled", from silence: Silence = .transfer) throws {
        path = folder + "/" + name
        guard FileManager.default.createFile(atPath: path, contents: nil) else { throw CocoaError(.fileWriteUnknown) }
        device = open("/dev/fuse", O_RDWR | O_CLOEXEC)
        let options = "fd=\(device),rootmode=100644,user_id=0,group_id=0"
        guard device >= 0, mount("stalled", path, "fuse", UInt(MS_NOSUID | MS_NODEV), options) == 0 else {
            throw CocoaError(.fileReadUnknown)
        }
        let (transfers, continuation) = AsyncStream.makeStream(of: Void.self)
        self.transfers = transfers
        Thread { [device] in
            Self.serve(device, from: silence, onTransfer: { continuation.yield() })
            continuation.finish()
        }.start()
    }

    /// Fails what waits.
    ///
    /// A process that waits for a file of its own cannot end before.
    package func end() {
        umount2(path, CInt(MNT_FORCE))
        umount2(path, CInt(MNT_DETACH))
    }

    /// Answers everything before the silence, until the end.
    private static func serve(_ device: CInt, from silence: Silence, onTransfer: () -> Void) {
        var request = [UInt8](repeating: 0, count: 1 << 17)
        while true {
            let count = read(device, &request, request.count)
            if count < 0, errno == EINTR || errno == ENOENT { continue }
            guard count >= 40 else { break }
            let (operation, number) = request.withUnsafeBytes { bytes in
                (
                    bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self),
                    bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
                )
            }
            // The numbers and structures of linux/fuse.h.
            switch operation {
            case 2, 36: break  // FUSE_FORGET, FUSE_INTERRUPT
            case 15, 16: onTransfer()  // FUSE_READ, FUSE_WRITE
            case 14 where silence != .transfer: onTransfer()  // FUSE_OPEN
            case 3 where silence == .look: onTransfer()  // FUSE_GETATTR
            case 26: answer(device, number, words([7, 31, 0, 0, 0, 4096, 1] + [UInt32](repeating: 0, count: 9)))
            case 3: answer(device, number, attributes)  // FUSE_GETATTR
            case 14: answer(device, number, words([0, 0, 1, 0]))  // FUSE_OPEN, without the page cache
            case 18, 25: answer(device, number, [])  // FUSE_RELEASE, FUSE_FLUSH
            default: answer(device, number, [], error: -ENOSYS)
            }
        }
        close(device)
    }

    /// A valid time of a minute; inode 1, 1 MiB; then blocks and times, mode, links, owner, and the size of a block.
    private static let attributes = words(
        [60, 0, 0, 0, 1, 0, 1 << 20, 0] + [UInt32](repeating: 0, count: 11) + [0o100644, 1, 0, 0, 0, 4096, 0]
    )

    private static func words(_ words: [UInt32]) -> [UInt8] {
        words.flatMap { word in withUnsafeBytes(of: word) { bytes in Array(bytes) } }
    }

    private static func answer(_ device: CInt, _ number: UInt64, _ body: [UInt8], error: CInt = 0) {
        let length = UInt32(16 + body.count)
        let header = [length, UInt32(bitPattern: error), UInt32(truncatingIfNeeded: number), UInt32(number >> 32)]
        let bytes = words(header) + body
        _ = Glibc.write(device, bytes, bytes.count)
    }
}
