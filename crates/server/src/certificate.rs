//! Whose a client's certificate is, and who has signed it: the names in it, as OpenSSL prints them on one line and MySQL compares them.
//!
//! rustls has checked the certificate before this reads it. It is read by hand because two names are all that is needed of it, for which a
//! library for X.509 would bring a dozen crates. What is not understood gives no names, and no account that requires one is entered.

use session::Certificate;

const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
const OBJECT_IDENTIFIER: u8 = 0x06;
/// `[0]`, the version in front of the other fields.
const VERSION: u8 = 0xa0;

/// Short names of the kinds of attributes, by their identifiers' bytes.
const SHORT_NAMES: [(&[u8], &str); 15] = [
    (&[0x55, 4, 3], "CN"),
    (&[0x55, 4, 4], "SN"),
    (&[0x55, 4, 5], "serialNumber"),
    (&[0x55, 4, 6], "C"),
    (&[0x55, 4, 7], "L"),
    (&[0x55, 4, 8], "ST"),
    (&[0x55, 4, 9], "street"),
    (&[0x55, 4, 10], "O"),
    (&[0x55, 4, 11], "OU"),
    (&[0x55, 4, 12], "title"),
    (&[0x55, 4, 42], "GN"),
    (&[0x55, 4, 43], "initials"),
    (&[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 9, 1], "emailAddress"),
    (&[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 25], "DC"),
    (&[0x09, 0x92, 0x26, 0x89, 0x93, 0xf2, 0x2c, 0x64, 1, 1], "UID"),
];

/// The names of a certificate in DER.
pub(crate) fn names(der: &[u8]) -> Option<Certificate> {
    let (certificate, _) = expect(der, SEQUENCE)?;
    let (mut fields, _) = expect(certificate, SEQUENCE)?;
    if fields.first() == Some(&VERSION) {
        fields = element(fields)?.2;
    }
    // Serial number, algorithm, issuer, validity, subject.
    let (_, _, fields) = element(fields)?;
    let (_, fields) = expect(fields, SEQUENCE)?;
    let (issuer, fields) = expect(fields, SEQUENCE)?;
    let (_, fields) = expect(fields, SEQUENCE)?;
    let (subject, _) = expect(fields, SEQUENCE)?;
    Some(Certificate { subject: one_line(subject)?, issuer: one_line(issuer)? })
}

/// `/C=DE/CN=ada`
fn one_line(mut name: &[u8]) -> Option<String> {
    let mut text = String::new();
    while !name.is_empty() {
        let (mut attributes, rest) = expect(name, SET)?;
        name = rest;
        while !attributes.is_empty() {
            let (attribute, rest) = expect(attributes, SEQUENCE)?;
            attributes = rest;
            let (kind, value) = expect(attribute, OBJECT_IDENTIFIER)?;
            let (_, value, _) = element(value)?;
            text.push('/');
            match SHORT_NAMES.iter().find(|(bytes, _)| *bytes == kind) {
                Some((_, short)) => text.push_str(short),
                None => text.push_str(&dotted(kind)),
            }
            text.push('=');
            for byte in value {
                match byte {
                    b' '..=b'~' => text.push(char::from(*byte)),
                    byte => text.push_str(&format!("\\x{byte:02X}")),
                }
            }
        }
    }
    Some(text)
}

/// `1.2.840.113549`
fn dotted(identifier: &[u8]) -> String {
    let mut numbers: Vec<u64> = Vec::new();
    let mut number: u64 = 0;
    for byte in identifier {
        number = number << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            if numbers.is_empty() {
                let first = (number / 40).min(2);
                numbers.push(first);
                number -= first * 40;
            }
            numbers.push(number);
            number = 0;
        }
    }
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(".")
}

/// The contents of an element of a kind, and what is behind it.
fn expect(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (found, contents, rest) = element(bytes)?;
    (found == tag).then_some((contents, rest))
}

/// The first element: its kind, its contents, and what is behind it.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, bytes) = bytes.split_first()?;
    let (&first, bytes) = bytes.split_first()?;
    let (length, bytes) = match first {
        0..=0x7f => (usize::from(first), bytes),
        0x81..=0x84 => {
            let (digits, bytes) = bytes.split_at_checked(usize::from(first & 0x7f))?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), bytes)
        }
        _ => return None,
    };
    let (contents, rest) = bytes.split_at_checked(length)?;
    Some((tag, contents, rest))
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, DnType, Issuer, KeyPair};

    use super::*;

    #[test]
    fn names_on_one_line() {
        let mut authority = CertificateParams::new(Vec::new()).unwrap();
        authority.distinguished_name.push(DnType::CommonName, "an authority");
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::CountryName, "DE");
        params.distinguished_name.push(DnType::OrganizationName, "Zuse & S\u{f6}hne");
        params.distinguished_name.push(DnType::CustomDnType(vec![1, 2, 840, 113549, 1, 9, 1]), "a@example.org");
        params.distinguished_name.push(DnType::CustomDnType(vec![2, 5, 4, 13]), "text");
        params.distinguished_name.push(DnType::CommonName, "ada");
        let own = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&own, &Issuer::new(authority, key)).unwrap();
        let names = names(certificate.der()).unwrap();
        assert_eq!(names.subject, "/C=DE/O=Zuse & S\\xC3\\xB6hne/emailAddress=a@example.org/2.5.4.13=text/CN=ada");
        assert!(names.issuer.ends_with("CN=an authority"), "{}", names.issuer);
        let der = certificate.der();
        for end in 0..der.len().min(300) {
            let _ = super::names(&der[..end]);
        }
        assert_eq!(super::names(b""), None);
    }
}
