import CKeychaindLinux
import Glibc
import KeychaindGcrypt

/// Places of a fixed size in the file `lock`, for records of failed attempts that `state.db` does not take.
///
/// They are made when the disk has room, and overwritten where they are: on a full disk, without free inodes or above
/// a quota, a password can be counted and so be tried. A place has 256 bytes: the lengths of name and record (1 each),
/// the owner's name, the record, and in the end a checksum (8). A length of zero is an empty place.
struct LockoutPlaces {
    /// All places, in bytes.
    static let size = count * placeSize

    private static let placeSize = 256
    private static let checksumSize = 8
    private static let count = 64
    /// The owners that have a place of their own, the first ones.
    private static let permanent = LockoutOwner.permanent
    /// Where the places of programs begin, so that they cannot take those of people.
    private static let firstOfPrograms = 34

    private let folder: Folder
    private var owners: [Int: LockoutOwner] = [:]

    init(in folder: Folder) {
        self.folder = folder
    }

    /// Makes the places if there is room, and reads their records; an unreadable place counts as the worst record.
    mutating func open() throws(VaultError) -> StoredLockouts {
        if folder.isWritable { try folder.reserve(FolderLock.name, bytes: Self.size, leaving: 0) }
        guard try folder.size(of: FolderLock.name) >= Self.size else { return .none }
        let file = try OpenedFile(folder.file(FolderLock.name), flags: O_RDONLY)
        var bytes = [UInt8](repeating: 0, count: Self.size)
        guard try file.read(into: &bytes, at: 0) == Self.size else { return .unreadable }
        var lockouts = StoredLockouts.none
        for index in 0..<Self.count {
            let place = Array(bytes[index * Self.placeSize..<(index + 1) * Self.placeSize])
            guard place[0] > 0 else { continue }
            guard let (owner, record) = try Self.decode(place) else {
                lockouts.rest = .unreadable
                continue
            }
            owners[index] = owner
            lockouts.set(record, of: owner)
        }
        return lockouts
    }

    /// Stores the record of an owner durably; throws `storageFull` if no place is free.
    mutating func set(_ record: [UInt8], of owner: LockoutOwner) throws(VaultError) {
        guard let index = place(of: owner) ?? freePlace(for: owner) else {
            throw VaultError(.storageFull, reason: "the disk is full, and so are the places for failed attempts")
        }
        try write(Self.encode(record, of: owner), at: index)
        owners[index] = owner
    }

    /// Empties the place of an owner, if it has one, durably.
    mutating func remove(_ owner: LockoutOwner) throws(VaultError) {
        guard let index = place(of: owner) else { return }
        try write([UInt8](repeating: 0, count: Self.placeSize), at: index)
        owners[index] = nil
    }

    private func place(of owner: LockoutOwner) -> Int? {
        owners.first { place in place.value == owner }?.key
    }

    private func freePlace(for owner: LockoutOwner) -> Int? {
        if let index = Self.permanent.firstIndex(of: owner) { return index }
        let places =
            owner.party == .people
            ? Self.permanent.count..<Self.firstOfPrograms : Self.firstOfPrograms..<Self.count
        return places.first { index in owners[index] == nil }
    }

    private func write(_ bytes: [UInt8], at index: Int) throws(VaultError) {
        let flags = O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let descriptor = Glibc.open(folder.file(FolderLock.name), flags)
        guard descriptor >= 0 else { throw VaultError(errno: errno, doing: "open the places for failed attempts") }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size >= Self.size else {
            throw VaultError(.storageFull, reason: "the disk had no room for the places for failed attempts")
        }
        guard pwrite(descriptor, bytes, bytes.count, off_t(index * Self.placeSize)) == bytes.count,
            fdatasync(descriptor) == 0
        else { throw VaultError(errno: errno, doing: "record a failed attempt") }
    }

    private static func encode(_ record: [UInt8], of owner: LockoutOwner) throws(VaultError) -> [UInt8] {
        let name = Array(owner.name.utf8)
        let contents = [UInt8(clamping: name.count), UInt8(clamping: record.count)] + name + record
        guard contents.count <= placeSize - checksumSize else {
            throw VaultError(.limitExceeded, reason: "the record is too long")
        }
        let padded = contents + [UInt8](repeating: 0, count: placeSize - checksumSize - contents.count)
        return padded + (try checksum(padded))
    }

    private static func decode(_ place: [UInt8]) throws(VaultError) -> (LockoutOwner, [UInt8])? {
        let contents = Array(place.dropLast(checksumSize))
        guard try checksum(contents).elementsEqual(place.suffix(checksumSize)) else { return nil }
        let name = contents.dropFirst(2).prefix(Int(contents[0]))
        let record = contents.dropFirst(2 + Int(contents[0])).prefix(Int(contents[1]))
        guard let owner = LockoutOwner(name: String(decoding: name, as: UTF8.self)) else { return nil }
        return (owner, Array(record))
    }

    /// Tells a torn or damaged place from a whole one; the key is public.
    private static func checksum(_ contents: [UInt8]) throws(VaultError) -> [UInt8] {
        try cipher { () throws(GcryptError) in
            let authenticator = try HMACSHA256(key: SecureBytes(copying: Array(LockoutOwner.prefix.utf8)))
            let code = try contents.withRawBytes { (contents) throws(GcryptError) in
                try authenticator.authenticate(contents)
            }
            return Array(code.prefix(checksumSize))
        }
    }
}
