"""String methods, slices, formatting, searching."""
s = "The quick brown fox jumps over the lazy dog"
print(s.upper(), s.swapcase(), s.title(), s.center(60, "*"), s.split(), s.rsplit(" ", 2), s.partition("fox"))
print(s.find("o"), s.rfind("o"), s.count("o"), s.index("lazy"), s.replace("o", "0", 2), s[::-1], s[4:-4:3])
print("|".join(sorted(s.split(), key=str.lower)), s.startswith(("A", "The")), s.endswith("dog"), s.translate(str.maketrans("aeiou", "AEIOU", "xyz")))
print("%5d|%-5d|%05d|%x|%#o|%e|%r|%s|%c|%%" % (42, 42, 42, 255, 8, 12345.678, "q", None, 65))
print("{0:>10}|{1:^10}|{2:<10}|{n:,}|{d[k]}|{l[1]}|{0!r:>8}".format("r", "c", "l", n=1234567, d={"k": "v"}, l=[1, 2]))
w, p = 12, 4
print(f"{3.14159265:{w}.{p}f}|{s[:5]!r:>{w}}|{1234567890:_}|{255:#010x}|{-5:=+8d}|{'x':*^9}|{3 + 4 = }")
print("tab\there\nnew\\line\x00nul".encode(), repr("quote'\"both"), ascii("é\u2028"), "a\tbc\td".expandtabs(4))
print("needle" * 3 in "hay" * 5000 + "needle" * 3, ("ab" * 3000).find("ba" * 2000 + "c"), ("x" * 70000).rfind("x", 5, 60000))
print("  x ".strip(), "xxhixx".lstrip("x"), "a,b,,c".split(","), "a\r\nb\vc\x1cd".splitlines(), "abc".zfill(6), "-12".zfill(6))
print(b"bytes \xff".hex(" "), bytes.fromhex("de ad be ef"), bytearray(b"abc").replace(b"b", b"XYZ"), b"a-b-c".rsplit(b"-", 1), bytes(range(5)))
print([c.isalpha() for c in "aZ0 _é"], "ß".upper(), "İ".lower().encode(), "ﬁ".casefold(), "a" < "B", "abc" < "abd", max("hello"))
import string, textwrap
print(string.Template("$who likes ${what}").substitute(who="tim", what="kung pao"), string.capwords("hello big world"))
print(textwrap.fill(s * 3, 30, initial_indent="> ", subsequent_indent="  "), textwrap.dedent("  a\n    b\n  c"), textwrap.shorten(s, 20))
