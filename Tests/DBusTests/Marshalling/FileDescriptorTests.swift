import DBus
import Foundation
import Testing

/// Descriptors in messages.
struct FileDescriptorTests {
    @Test
    func read_writtenDescriptor_isADuplicateOfTheSameFile() throws {
        let message = makeMessage()
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        do {
            message.append(FileDescriptor(owning: ends[0]))
        }
        // The first owner has closed its own by now.
        #expect(fcntl(ends[0], F_GETFD) == -1)
        let received = try message.read(FileDescriptor.self)
        #expect(write(ends[1], "x", 1) == 1)
        close(ends[1])
        var byte: UInt8 = 0
        #expect(read(received.rawValue, &byte, 1) == 1)
        #expect(byte == UInt8(ascii: "x"))
        #expect(fcntl(received.rawValue, F_GETFD) & FD_CLOEXEC != 0)
    }

    @Test
    func read_twice_givesTwoDescriptors() throws {
        let message = makeMessage()
        message.append(FileDescriptor(owning: open("/dev/null", O_RDONLY)))
        let first = try message.read(FileDescriptor.self)
        let second = try message.read(FileDescriptor.self)
        #expect(first.rawValue != second.rawValue)
    }

    @Test
    func read_otherType_isInvalidArguments() throws {
        let message = makeMessage()
        message.append(UInt32(0))
        #expect(throws: BusError(.invalidArguments, "")) {
            _ = try message.read(FileDescriptor.self)
        }
        #expect(FileDescriptor.signature == "h")
    }

    private func makeMessage() -> Message {
        Message.call(to: "test.example", ObjectPath(unchecked: "/"), "test.example", "Take")
    }
}
