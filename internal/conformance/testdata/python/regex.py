"""The regular expression engine."""
import re
text = "On 2024-02-29 alice@example.org sent 3 mails to bob.smith@mail.example.com; " * 40
print(len(re.findall(r"[\w.]+@[\w.]+\w", text)), re.search(r"(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)", text).groupdict())
print(re.sub(r"(\w+)@(\w+)", r"\2 at \1", text)[:90], re.subn(r"\d", lambda m: str(9 - int(m.group())), "a1b2c3"))
print(re.split(r"[;,\s]\s*", "a, b;c  d", maxsplit=2), re.split(r"(-)", "1-2-3"), re.fullmatch(r"a|ab", "ab"), re.match(r"(?i)HELLO", "hello").span())
for p, s in [(r"(a+)+b", "aaaaaaaaaaaaaaaaac"), (r"^(?:x(?=y)|z)+$", "zzz"), (r"(?<=\$)\d+(?!\d|\.)", "$100 $20.5"), (r"(\w)(\w)\2\1", "noon abba"),
             (r"a{2,3}?", "aaaa"), (r"[^\W\d_]+", "été42"), (r"(?s).+", "a\nb"), (r"(?m)^\w+$", "one\ntwo"), (r"\bfoo\b", "foobar foo"), (r"(?>a+)ab", "aaab"), (r"a++b", "aab"), (r"(a)?(?(1)b|c)", "ab c")]:
    m = re.search(p, s)
    print(p, m and (m.group(), m.span(), m.groups()))
for bad in ("(", "a**", "[z-a]", r"(?P<1>x)", r"\1", "(?<=a+)b", "*"):
    try:
        re.compile(bad)
    except re.error as e:
        print(bad, e)
scanner = re.Scanner([(r"\d+\.\d*", lambda s, t: ("float", t)), (r"\d+", lambda s, t: ("int", t)), (r"[-+*/()]", lambda s, t: t), (r"\s+", None)])
print(scanner.scan("3.5 * (2+40) - x"))
print(re.compile(r"(?x) \d+ # digits \n \. ", re.DEBUG).pattern)
print([m.start() for m in re.finditer("aba", "ababa")], re.escape("a.b*c"), repr(re.compile("x", re.I | re.M)))
