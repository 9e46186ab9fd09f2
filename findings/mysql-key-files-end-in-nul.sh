#!/usr/bin/env bash
# The RSA key files that MySQL makes for caching_sha2_password at its first start, as text.
# Guess: a PEM file ends with the line end of "-----END PRIVATE KEY-----", as `openssl rsa` writes it, so any PEM reader takes it.
# Seen with MySQL 9.7.4: both files have one NUL byte more behind it. OpenSSL overlooks it; readers that follow RFC 7468 to the letter (Rust's
# pem-rfc7468) refuse the file.
. "$(dirname "$0")/server.sh"
mysql97
for file in private_key public_key; do
    seen "last bytes of $file.pem" '2d2d2d2d0a00' "$(tail -c 6 "$work/data/$file.pem" | od -An -tx1 | tr -d ' \n')"
done
