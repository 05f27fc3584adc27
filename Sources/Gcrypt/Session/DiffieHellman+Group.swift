extension DiffieHellman {
    /// A group of integers modulo a safe prime, with the generator 2.
    package enum Group: Sendable, CaseIterable {
        /// The Second Oakley Group of RFC 2409, 1024 bits: the Secret Service's (spec #27).
        case oakley2

        /// Group 5 of RFC 3526, 1536 bits: the GCR system prompter's.
        case modp1536

        /// The size of the prime, and so of keys and shared secrets, in bytes.
        package var size: Int {
            switch self {
            case .oakley2: 128
            case .modp1536: 192
            }
        }

        static let generator: StaticString = "2"

        // Leading zeros keep libgcrypt from taking the first bit for a sign.
        var prime: StaticString {
            switch self {
            case .oakley2:
                """
                00\
                FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74\
                020BBEA63B139B22514A08798E3404DDEF9519B3CD3A431B302B0A6DF25F1437\
                4FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED\
                EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF
                """
            case .modp1536:
                """
                00\
                FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74\
                020BBEA63B139B22514A08798E3404DDEF9519B3CD3A431B302B0A6DF25F1437\
                4FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED\
                EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE45B3DC2007CB8A163BF05\
                98DA48361C55D39A69163FA8FD24CF5F83655D23DCA3AD961C62F356208552BB\
                9ED529077096966D670C354E4ABC9804F1746C08CA237327FFFFFFFFFFFFFFFF
                """
            }
        }
    }
}
