"""Unicode: storage classes, normalisation, codecs, errors."""
import unicodedata
import codecs
for s in ("ascii", "é latin", "Ελληνικά", "漢字かな", "🦎 lizard 🐉", "e\u0301", "\U0010ffff", "mixed é漢🦎"):
    print(s, len(s), s.encode("utf-8"), s.encode("utf-16-le"), s.upper(), s[::-1], ascii(s), s.encode("ascii", "backslashreplace"))
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        print(form, unicodedata.normalize(form, s).encode("utf-8"))
    for c in s[:3]:
        print(c, ord(c), unicodedata.name(c, "?"), unicodedata.category(c), unicodedata.numeric(c, None))
for b in (b"\xff\xfe", b"\xc3(", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"ok \xe2\x82"):
    try:
        b.decode("utf-8")
    except UnicodeDecodeError as e:
        print(e, b.decode("utf-8", "replace"), b.decode("utf-8", "surrogateescape").encode("utf-8", "surrogateescape"), b.decode("latin-1"))
try:
    "é漢".encode("latin-1")
except UnicodeEncodeError as e:
    print(e, "é漢".encode("latin-1", "xmlcharrefreplace"), "é漢".encode("cp437", "replace"), "é漢".encode("shift_jis", "ignore"))
print(codecs.encode("Hello", "rot13"), "straße".casefold() == "STRASSE".casefold(), "é漢🦎".encode("utf-7"), "bücher".encode("idna"), "bücher".encode("punycode"))
print(sorted(["zebra", "Äpfel", "apple", "éclair", "漢"]), "漢" * 3 + "a", "x漢y".find("漢"), "🦎" in "ab🦎", "漢字".isidentifier())
print("\N{GREEK SMALL LETTER ALPHA}", "\u00e9" == unicodedata.normalize("NFC", "e\u0301"), str(b"caf\xc3\xa9", "utf-8"))
