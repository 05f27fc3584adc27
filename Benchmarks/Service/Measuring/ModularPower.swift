import CKeychaindGcrypt
import KeychaindGcrypt

/// A modular exponentiation in the Second Oakley Group with plain libgcrypt: the floor of a key agreement.
struct ModularPower: ~Copyable {
    private let base: gcry_mpi_t?
    private let exponent: gcry_mpi_t?
    private let modulus: gcry_mpi_t?

    /// Prepares the operands.
    init(base: [UInt8], exponent: borrowing SecureBytes) {
        var operands: [gcry_mpi_t?] = [nil, nil, nil]
        gcry_mpi_scan(&operands[0], GCRYMPI_FMT_USG, base, base.count, nil)
        exponent.withUnsafeBytes { _ = gcry_mpi_scan(&operands[1], GCRYMPI_FMT_USG, $0.baseAddress, $0.count, nil) }
        let digits =
            "00FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74"
            + "020BBEA63B139B22514A08798E3404DDEF9519B3CD3A431B302B0A6DF25F1437"
            + "4FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED"
            + "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF"
        gcry_mpi_scan(&operands[2], GCRYMPI_FMT_HEX, digits, 0, nil)
        (self.base, self.exponent, modulus) = (operands[0], operands[1], operands[2])
    }

    deinit {
        for operand in [base, exponent, modulus] { gcry_mpi_release(operand) }
    }

    /// Computes the power.
    borrowing func compute() {
        let result = gcry_mpi_new(1024)
        gcry_mpi_powm(result, base, exponent, modulus)
        gcry_mpi_release(result)
    }
}
