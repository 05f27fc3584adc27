import GRPCCore

/// Returns the password of a service.
struct PasswordService: RegistrableRPCService {
    static let get = MethodDescriptor(fullyQualifiedService: "Passwords", method: "Get")

    func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
        router.registerHandler(forMethod: Self.get, deserializer: TextCoding(), serializer: TextCoding()) {
            request,
            _ in
            let service = try await ServerRequest(stream: request).message
            guard let password = password(of: service) else {
                return StreamingServerResponse(error: RPCError(code: .notFound, message: service))
            }
            return StreamingServerResponse(single: ServerResponse(message: password))
        }
    }
}

/// Messages of UTF-8 text.
struct TextCoding: MessageSerializer, MessageDeserializer {
    func serialize<Bytes: GRPCContiguousBytes>(_ message: String) throws -> Bytes {
        Bytes(message.utf8)
    }

    func deserialize<Bytes: GRPCContiguousBytes>(_ serializedMessageBytes: Bytes) throws -> String {
        serializedMessageBytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}
