// Package cpython runs CPython's own regression tests (Debian's
// libpython3.11-testsuite) inside the machine and natively and compares the verdict of
// every test method. `make conformance` runs all modules and writes the table in docs/.
package cpython

// A Module is one test module and the methods left out, each with the reason.
type Module struct {
	Name     string
	Excluded map[string]string // ID without "test.NAME." → reason
	Quick    bool              // runs in every test run, not only in make conformance
}

// Modules is the table.
var Modules = []Module{
	{Name: "test_bool", Quick: true},
	{Name: "test_int"},
	{Name: "test_long"},
	{Name: "test_float"},
	{Name: "test_math"},
	{Name: "test_cmath"},
	{Name: "test_complex"},
	{Name: "test_unicode"},
	{Name: "test_bytes"},
	{Name: "test_re"},
	{Name: "test_json.test_decode"},
	{Name: "test_json.test_encode_basestring_ascii"},
	{Name: "test_json.test_float"},
	{Name: "test_json.test_pass1"},
	{Name: "test_json.test_unicode"},
	{Name: "test_json.test_scanstring"},
	{Name: "test_json.test_speedups"},
	{Name: "test_struct"},
	{Name: "test_dict"},
	{Name: "test_set"},
	{Name: "test_sort"},
	{Name: "test_generators"},
	{Name: "test_exceptions"},
	{Name: "test_decimal"},
	{Name: "test_fractions"},
	{Name: "datetimetester"},
	{Name: "test_zlib"},
	{Name: "test_hashlib"},
	{Name: "test_csv"},
	{Name: "test_argparse"},
	{Name: "test_configparser"},
	{Name: "test_pickle"},
	{Name: "test_statistics"},
	{Name: "test_threading"},
	{Name: "test_subprocess"},
	{Name: "test_os"},
	{Name: "test_signal"},
}
