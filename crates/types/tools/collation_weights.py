#!/usr/bin/env python3
"""Writes src/collation/data/*.bin: the weights of the collations, as a MySQL server's WEIGHT_STRING() says them.

    collation_weights.py HOST PORT [USER [PASSWORD]]        (needs the `mariadb` or `mysql` client)

The weights are those of Unicode's Default Unicode Collation Element Table, version 9.0.0 for utf8mb4_0900_* and 4.0.0 for
utf8mb4_unicode_ci, 5.2.0 for utf8mb4_unicode_520_ci, of MySQL's simple case folding for utf8mb4_general_ci, and the byte
orders of its collations of character sets of one byte per character. Keys on disk contain them, so the files must never
change; a new version of the weights is a new collation.

Layout (all integers little-endian), read by src/collation/tables.rs:

    uca*.bin     u16 pages[4096]            per 256 code points: number of the page from 1; 0 = all implicit
                 page:  u16 entry[256]      number of the entry from 1; 0 = implicit
                 u32 entry_count, then      u32 offset of the primary weights in the pool (in u16s) << 8 | how many
                                            u16 number of the tail (0900 only: secondary and tertiary weights)
                 u32 tail_count, then       u16 offset in the pool, u8 secondary weights there, u8 tertiary ones behind them
                 u16 pool[]
    languages.bin          for each of LANGUAGES in collation/tables.rs, what it has otherwise than uca0400.bin:
                           u16 count, then u16 code point, u16 weight, u16 second weight or 0
    general.bin  u16 pages[256], page: u16 weight[256]      0 = the code point itself
    single_byte.bin        u8 weight[256] of each collation, in the order of ORDERS in collation/tables.rs

And what characters those character sets have:

    ../charset/single_byte.bin     u16 code_point[128] of each, for 80 to ff, 0 = none; in the order of SETS in charset/single_byte.rs
    ../charset/case.bin            u8 upper[256], u8 lower[256] of each
"""
import os
import struct
import subprocess
import sys

TARGET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "src", "collation", "data")
LAST = 0xEFFFF


def ask(sql):
    host, port, *login = sys.argv[1:]
    command = ["mariadb", "--no-defaults", "--skip-ssl", "-h", host, "-P", port, "-N", "-B"]
    command += ["-u", login[0] if login else "root"] + ["-p" + p for p in login[1:]]
    command += ["-e", "set names utf8mb4; set session cte_max_recursion_depth=2000000; " + sql]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def weights(collation):
    rows = ask(
        f"with recursive n(c) as (select 0 union all select c+1 from n where c < {LAST}) select c, "
        f"hex(weight_string(convert(char(c using utf32) using utf8mb4) collate {collation})) "
        "from n where c < 0xD800 or c > 0xDFFF"
    )
    for row in rows.splitlines():
        code, text = row.split("\t")
        yield int(code), [int(text[i : i + 4], 16) for i in range(0, len(text), 4)]


def implicit(code, version):
    if version in (4, 5):
        if version == 4 and code > 0xFFFF:
            return [0xFFFD]
        base = 0xFB80 if 0x3400 <= code <= 0x4DB5 else 0xFB40 if 0x4E00 <= code <= 0x9FA5 else 0xFBC0
        return [base + (code >> 15), code & 0x7FFF | 0x8000]
    return None


def split_levels(units):
    first = units.index(0)
    second = units.index(0, first + 1)
    return units[:first], units[first + 1 : second], units[second + 1 :]


def is_implicit(code, primary, tail, version):
    """The formulas of tables.rs; whatever does not follow them gets an entry."""
    if version in (4, 5):
        return primary == implicit(code, version)
    if 0xAC00 <= code <= 0xD7A3:
        return True  # made of the weights of its jamos; checked below
    if len(primary) != 2 or primary[1] != code & 0x7FFF | 0x8000 or tail != ((0x20,), (2,)):
        return False
    return primary[0] == implicit_base_0900(code)


def implicit_base_0900(code):
    if 0x17000 <= code <= 0x18AFF:
        return 0xFB00
    unified = 0x4E00 <= code <= 0x9FD5 or 0xFA0E <= code <= 0xFA29
    extended = 0x3400 <= code <= 0x4DB5 or 0x20000 <= code <= 0x2A6D6 or 0x2A700 <= code <= 0x2B734
    extended = extended or 0x2B740 <= code <= 0x2B81D or 0x2B820 <= code <= 0x2CEA1
    return (0xFB40 if unified else 0xFB80 if extended else 0xFBC0) + (code >> 15)


def write_uca(name, collation, version):
    entries, index, tails, pool, places, pages = [], {}, {}, [], {}, {}
    elements = []
    for code, units in weights(collation):
        primary, *rest = split_levels(units) if version == 9 else (units,)
        tail = tuple(tuple(level) for level in rest)
        if not is_implicit(code, primary, tail, version):
            elements.append((code, primary, tail))
    for secondary, tertiary in dict.fromkeys(tail for _, _, tail in elements) if version == 9 else ():
        places[(secondary, tertiary)] = len(pool)
        pool += secondary + tertiary
    assert len(pool) < 65536
    for code, primary, tail in elements:
        key = (tuple(primary), tail)
        if key not in index:
            if key[0] not in places:
                places[key[0]] = len(pool)
                pool.extend(primary)
            number = tails.setdefault(tail, len(tails))
            entries.append((places[key[0]] << 8 | len(primary), number))
            index[key] = len(entries)
        pages.setdefault(code >> 8, [0] * 256)[code & 255] = index[key]
    assert len(entries) < 65536 and len(tails) < 65536
    out = bytearray()
    numbers = {page: n + 1 for n, page in enumerate(sorted(pages))}
    out += struct.pack("<4096H", *[numbers.get(page, 0) for page in range(4096)])
    for page in sorted(pages):
        out += struct.pack("<256H", *pages[page])
    out += struct.pack("<I", len(entries))
    for place, tail in entries:
        out += struct.pack("<I", place)
        if version == 9:
            out += struct.pack("<H", tail)
    if version == 9:
        out += struct.pack("<I", len(tails))
        for secondary, tertiary in tails:
            out += struct.pack("<HBB", places[(secondary, tertiary)], len(secondary), len(tertiary))
    out += struct.pack(f"<{len(pool)}H", *pool)
    save(name, out)


# All of version 4.0.0 of which no language takes two letters for one.
LANGUAGES = ("icelandic latvian romanian slovenian polish estonian spanish swedish turkish roman persian esperanto hungarian sinhala "
             "german2 vietnamese")


def write_languages():
    common = dict(weights("utf8mb4_unicode_ci"))
    out = b""
    for language in LANGUAGES.split():
        own = {code: units for code, units in weights(f"utf8mb4_{language}_ci") if units != common[code]}
        letters = [*range(ord("A"), ord("Z") + 1), *range(ord("a"), ord("z") + 1), *range(0x300, 0x370), *own]
        rows = ", ".join(f"row({code})" for code in letters)
        pairs = ask(
            f"with l as (select convert(char(c using utf32) using utf8mb4) collate utf8mb4_{language}_ci s from (values {rows}) v(c)) "
            "select count(*) from l a join l b where weight_string(concat(a.s, b.s)) <> concat(weight_string(a.s), weight_string(b.s))"
        )
        assert pairs.strip() == "0", language
        out += struct.pack("<H", len(own))
        for code, units in own.items():
            out += struct.pack("<HHH", code, *units, *[0] * (2 - len(units)))
    save("languages.bin", out)


def write_general():
    pages = {}
    for code, units in weights("utf8mb4_general_ci"):
        assert len(units) == 1
        if code > 0xFFFF:
            assert units == [0xFFFD]
        elif units != [code]:
            pages.setdefault(code >> 8, [(code & 0xFF00) + i for i in range(256)])[code & 255] = units[0]
    numbers = {page: n + 1 for n, page in enumerate(sorted(pages))}
    out = struct.pack("<256H", *[numbers.get(page, 0) for page in range(256)])
    for page in sorted(pages):
        out += struct.pack("<256H", *pages[page])
    save("general.bin", out)


EVERY_BYTE = "with recursive n(c) as (select 0 union all select c+1 from n where c < 255) select "


def bytes_of(charset, what):
    """What a function gives for each byte of a character set, as numbers; None for bytes that are no character."""
    rows = ask(EVERY_BYTE + "coalesce(hex(" + what.format(f"convert(unhex(hex(char(c))) using {charset})") + "), '') from n order by c")
    return [int(row, 16) if row else None for row in rows.split("\n")[:256]]


def write_single_byte():
    """Not: armscii8 and swe7, whose ASCII is another, and tis620, latin1_german2_ci and the Czech ones, which look at more than a byte."""
    names = ask("select character_set_name from information_schema.character_sets where maxlen = 1 and character_set_name not in "
                "('binary', 'armscii8', 'swe7', 'tis620') order by 1").split()
    chars, cases = b"", b""
    for name in names:
        for function in ("upper({})", "lower({})"):
            mapped = bytes_of(name, function)
            cases += bytes(byte if other is None else other for byte, other in enumerate(mapped))
        codes = bytes_of(name, "convert({} using utf32)")
        assert codes[:128] == list(range(128)), name
        high = [0 if code in (None, 0x3F) else code for code in codes[128:]]
        assert len(set(filter(None, high))) == 128 - high.count(0) and min(filter(None, high), default=128) >= 128, name
        chars += struct.pack("<128H", *high)
    save("../../charset/single_byte.bin", chars)
    save("../../charset/case.bin", cases)
    orders = ask("select collation_name, character_set_name from information_schema.collations where character_set_name in "
                 f"({','.join(repr(name) for name in names)}) and collation_name not like '%_bin' and collation_name not in "
                 "('latin1_german2_ci', 'latin2_czech_cs', 'cp1250_czech_cs') order by 1").split("\n")[:-1]
    weights = b""
    for order in orders:
        name, charset = order.split("\t")
        print(name)
        of_each = bytes_of(charset, f"weight_string({{}} collate {name})")
        weights += bytes(byte if weight is None else weight for byte, weight in enumerate(of_each))
    save("single_byte.bin", weights)


def save(name, data):
    with open(os.path.join(TARGET, name), "wb") as file:
        file.write(data)
    print(name, len(data))


write_uca("uca0900.bin", "utf8mb4_0900_as_cs", 9)
write_uca("uca0400.bin", "utf8mb4_unicode_ci", 4)
write_uca("uca0520.bin", "utf8mb4_unicode_520_ci", 5)
write_languages()
write_general()
write_single_byte()
