"""Code objects, modules, garbage, the abstract syntax tree, the tokenizer, C extension data."""
import array, ast, ctypes, dis, gc, importlib, io, keyword, linecache, sys, tokenize, types, weakref
print(ast.dump(ast.parse("x = [f(y) for y in z if y]\nasync def g(): await h()"), indent=1), ast.unparse(ast.parse("a=1;b =  (a+2)*3")), ast.literal_eval("{'a': [1, 2.5, None]}"))
dis.dis(compile("for i in range(3): print(i + 1)", "<s>", "exec")); print(eval("__import__('math').floor(2.5)"))
print([(tokenize.tok_name[t.type], t.string) for t in tokenize.generate_tokens(io.StringIO("if x >= 0x1f: # c\n  s = 'q'\n").readline)])
class Node: pass
a, b = Node(), Node(); a.o, b.o = b, a; r = weakref.ref(a, lambda _: print("collected")); del a, b; print(gc.collect() > 0, r())
m = types.ModuleType("made"); exec("def f(): return __name__", m.__dict__); sys.modules["made"] = m; print(importlib.import_module("made").f())
v = array.array("d", [1.5, 2.5]); mv = memoryview(bytearray(range(16))).cast("I"); print(v.tobytes().hex(), mv.tolist(), sys.getsizeof(v) > 0, keyword.iskeyword("match"))
libc = ctypes.CDLL(None); buf = ctypes.create_string_buffer(b"hello", 20); print(libc.strlen(buf), libc.abs(-5), ctypes.sizeof(ctypes.c_longdouble), libc.snprintf(buf, 20, b"%s-%d", b"fmt", 7), buf.value)
CMP = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int)); arr = (ctypes.c_int * 6)(5, 1, 4, 2, 6, 3)
libc.qsort(arr, 6, 4, CMP(lambda x, y: x[0] - y[0])); print(list(arr))
sys.settrace(None); print(sys.getrefcount(object()) <= 2, sys.intern("abc") is sys.intern("abc"), linecache.getline(__file__, 1))
import sqlite3
db = sqlite3.connect("x.db"); db.execute("create table t(a integer primary key, b text)"); db.executemany("insert into t(b) values (?)", [(c * 3,) for c in "zyx"]); db.commit()
print(db.execute("select a, b, upper(b) from t order by b").fetchall(), db.execute("select sum(a), avg(a) from t").fetchone(), sqlite3.connect("x.db").execute("select count(*) from t").fetchall())
import xml.etree.ElementTree as ET
t = ET.fromstring("<r a='1'><c>t&amp;</c><c/></r>"); print([(e.tag, e.attrib, e.text) for e in t.iter()], ET.tostring(t))
import inspect, unittest
class T(unittest.TestCase):
    def test_ok(self): self.assertEqual(1, 1)
    def test_bad(self): self.assertIn(3, [1, 2])
res = unittest.TestResult(); unittest.defaultTestLoader.loadTestsFromTestCase(T).run(res); print(res.testsRun, [f[1].splitlines()[-1] for f in res.failures], inspect.getsource(Node))
