"""A tour of the standard library."""
import base64, binascii, bz2, configparser, copy, csv, datetime, difflib, hashlib, hmac, html.parser, io, ipaddress, json, lzma, pickle, pprint, random, shlex, statistics, struct, urllib.parse, uuid, zlib
j = {"name": "élan", "n": [1, 2.5, -3e10, None, True], "nested": {"k": [[], {}]}}
t = json.dumps(j, sort_keys=True, indent=2); print(t, json.loads(t) == j, json.dumps(j, ensure_ascii=False, separators=(",", ":")))
for bad in ('{"a":}', "[1,]", '"\\x"', "nul", '{"a" 1}', "[" * 3):
    try: json.loads(bad)
    except json.JSONDecodeError as e: print(e)
rows = list(csv.reader(io.StringIO('a,"b ""quoted""",c\r\n1,"two\nlines",3\r\n'))); print(rows)
out = io.StringIO(); w = csv.DictWriter(out, ["x", "y"], quoting=csv.QUOTE_NONNUMERIC); w.writeheader(); w.writerow({"x": 1, "y": 'q"q'}); print(repr(out.getvalue()), csv.Sniffer().sniff("a;b;c\n1;2;3").delimiter)
class P(html.parser.HTMLParser):
    def handle_starttag(self, tag, attrs): print("start", tag, attrs)
    def handle_endtag(self, tag): print("end", tag)
    def handle_data(self, data): print("data", repr(data))
    def handle_comment(self, data): print("comment", data)
P(convert_charrefs=True).feed('<html><!-- c --><p class="x" id=y checked>caf&eacute; &lt;3 &#x41;</p><br/><script>if (a<b) {}</script></html>')
data = bytes(range(256)) * 20
print(struct.pack(">bHiQfd3s?", -1, 65535, -2**31, 2**63, 1.5, -0.1, b"abc", True).hex(), struct.unpack("<2h", b"\x01\x00\xff\xff"), struct.calcsize("@bi"))
print(base64.b64encode(data[:50]), base64.b32encode(b"x!"), base64.b85encode(b"hello"), base64.urlsafe_b64decode(b"-_-_"), binascii.crc32(data), zlib.adler32(data))
print([hashlib.new(n, data).hexdigest() for n in ("md5", "sha1", "sha256", "sha512", "blake2b", "sha3_256")], hmac.new(b"k", data, "sha256").hexdigest())
for m in (zlib, bz2, lzma): print(m.__name__, len(m.compress(data)), m.decompress(m.compress(data)) == data)
r = random.Random(42); print(r.random(), r.randint(1, 10**9), r.sample(range(100), 5), r.choices("abc", [5, 1, 1], k=8)); x = list(range(10)); r.shuffle(x); print(x, r.getrandbits(100))
d = datetime.datetime(2024, 2, 29, 23, 59, 59, tzinfo=datetime.timezone.utc); print(d + datetime.timedelta(days=366, seconds=1), d.isoformat(), d.strftime("%A %j %U %x"), datetime.date.fromisoformat("2023-12-31").isocalendar(), datetime.datetime.strptime("3 Mar 99", "%d %b %y"))
print(urllib.parse.urlsplit("http://u:p@host:80/p;x?q=1&r=a+b#f"), urllib.parse.quote("a b/é"), urllib.parse.parse_qs("a=1&a=2&b=%20"), ipaddress.ip_network("10.0.0.0/29").num_addresses, list(ipaddress.ip_network("10.0.0.0/30")))
print(pickle.loads(pickle.dumps(j)) == j, pickle.dumps([1, "a"], 0), copy.deepcopy(j) == j, uuid.uuid5(uuid.NAMESPACE_DNS, "example.org"), shlex.split("a 'b c' \"d\\\"e\" f\\ g"), statistics.mean([1, 2, 4]), statistics.median([3, 1, 2]), statistics.stdev([1, 2, 3, 4]))
print("\n".join(difflib.unified_diff("a\nb\nc".split(), "a\nx\nc".split(), lineterm="")), difflib.get_close_matches("appel", ["ape", "apple", "peach"]))
c = configparser.ConfigParser(); c.read_string("[s]\nk = v\npath = %(k)s/x\n"); print(c["s"]["path"], dict(c["s"])); pprint.pprint({i: list(range(i * 3)) for i in range(7)}, width=40)
