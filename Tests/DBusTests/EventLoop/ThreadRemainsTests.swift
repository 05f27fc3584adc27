import CKeychaindLinux
import Glibc
import KeychaindDBus
import KeychaindTestSupport
import Testing

/// What a thread still has of a secret after its work: in registers, which may be saved on its stack at any time.
@Suite struct ThreadRemainsTests {
    private static let savedRegisters = 64 << 10

    @Test("copies of all sizes leave nothing in the registers of a thread", arguments: [64, 200, 4 << 10, 2 << 20])
    func wipe_leavesNothingInRegisters(size: Int) async {
        let remains = await BlockingThread.run { Self.remains(of: size, wipes: true) }
        #expect(remains == 0)
    }

    #if arch(x86_64) || arch(arm64)
    @Test("control: a copy leaves a part of it in the registers")
    func withoutWipe_aPartIsInRegisters() async {
        let remains = await BlockingThread.run { Self.remains(of: 200, wipes: false) }
        #expect(remains > 0)
    }
    #endif

    @Test("a pause wipes what calls have left on the stack of the event loop")
    func pause_wipesTheStackOfTheLoop() async throws {
        let mark = UInt64.random(in: 1 << 32 ... .max)
        let place = try #require(UnsafePointer<UInt64>(bitPattern: await leave(mark, depth: 24)))
        // The thread keeps its stack, and this one only looks at it.
        try await eventually("the mark to be overwritten") { place.pointee != mark }
    }

    /// Leaves a mark on the stack, deeper than what the loop calls in a pause; returns its address.
    @BusActor
    @inline(never)
    private func leave(_ mark: UInt64, depth: Int) -> UInt {
        withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 100) { words in
            words.initialize(repeating: mark)
            return depth == 0 ? UInt(bitPattern: words.baseAddress) : leave(mark, depth: depth - 1)
        }
    }

    /// Counts the copied words that the kernel finds in the registers when it delivers a signal.
    ///
    /// Whole words, since an address may have any byte.
    private static func remains(of size: Int, wipes: Bool) -> Int {
        let source = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 64)
        let copy = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 64)
        // The kernel saves them there.
        let saved = UnsafeMutableRawPointer.allocate(byteCount: savedRegisters, alignment: 64)
        defer {
            for memory in [source, copy, saved] { memory.deallocate() }
        }
        let mark: UInt64 = 0xA7A7_A7A7_A7A7_A7A7
        source.initializeMemory(as: UInt64.self, repeating: mark, count: size / 8)
        saved.initializeMemory(as: UInt8.self, repeating: 0, count: savedRegisters)
        var stack = stack_t(ss_sp: saved, ss_flags: 0, ss_size: savedRegisters)
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in }
        action.sa_flags = SA_ONSTACK
        var signals = sigset_t()
        sigaddset(&signals, SIGUSR2)
        guard sigaltstack(&stack, nil) == 0, sigaction(SIGUSR2, &action, nil) == 0,
            pthread_sigmask(SIG_UNBLOCK, &signals, nil) == 0
        else { return -1 }
        defer {
            stack.ss_flags = CInt(SS_DISABLE)
            sigaltstack(&stack, nil)
        }
        memcpy(copy, source, size)
        if wipes { keychaind_wipe_stack_and_registers() }
        raise(SIGUSR2)
        guard memcmp(copy, source, size) == 0 else { return -1 }
        let registers = UnsafeRawBufferPointer(start: saved, count: savedRegisters).assumingMemoryBound(to: UInt64.self)
        return registers.count { $0 == mark }
    }
}
