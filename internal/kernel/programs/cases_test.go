package programs

import (
	"strings"
	"testing"
)

// cases are programs on which the model once differed from Linux.
var cases = map[string]program{
	"wait4 with unknown options": {{{"wait4", args{0, 0, 0x100000, 0}}}},
	"waitid writes what it has, though it fails": {{
		{"waitid", args{0, 0, 4096, 0, 0}},
		{"waitid", args{0, 0, buf(128), 4, 0}},
	}},
	"socketpair promises descriptors first": {{
		{"socketpair", args{0, 0, 0, 0}},
		{"socketpair", args{0, 0, 0, buf(8)}},
	}},
	"mknod looks at the name before it forbids, and makes whiteouts": {{
		{"mknod", args{str("a"), 0x2000, 0}},
		{"mknod", args{str("a/d"), 0x2000, 1}},
	}},
	"tgkill of no task":            {{{"tgkill", args{0, 2, 32}}, {"tkill", args{0, 0}}}},
	"writev of nothing":            {{{"eventfd2", args{0, 0}}, {"writev", args{ref(0), 0, 0}}}},
	"mmap looks at the file first": {{{"mmap", args{0, 0, 0, 0, 0, 0}}}},
	"limits of a child":            {{{"fork", args{1}}, {"prlimit64", args{ref(0), 7, 0, buf(16)}}}, {}},
	"setpgid to no group": {{
		{"setpgid", args{0, -1}},
		{"thread", args{1}},
		{"setpgid", args{0, ref(1)}},
		{"setpgid", args{ref(1), 0}},
	}, {}},
	"sendfile from a pipe with an offset": {{
		{"pipe2", args{buf(8), 0}},
		{"sendfile", args{0, word{0, 0, 0}, rec{uint64(0)}, 0}},
	}},
	"epoll_ctl of a directory": {{
		{"mkdir", args{str("d"), 0o755}},
		{"open", args{str("d"), 0, 0}},
		{"epoll_ctl", args{ref(1), 1, ref(1), rec{uint32(0), uint64(0)}}},
	}},
	"a raw socket":           {{{"socket", args{2, 3, 0}}}},
	"accept4 of no file":     {{{"accept4", args{0, 0, 0, 1}}}},
	"a signal without room":  {{{"rt_sigtimedwait", args{rec{uint64(0)}, 4096, rec{uint64(0), uint64(0)}, 8}}}},
	"linkat flags":           {{{"linkat", args{0, str("d"), 0, 0, 1}}}},
	"clock of a descriptor":  {{{"clock_getres", args{-1, 0}}, {"clock_nanosleep", args{4, 0, rec{uint64(0), uint64(0)}, 0}}}},
	"utimensat flags":        {{{"utimensat", args{0, str("e"), 0, 1}}}},
	"utimensat nanoseconds":  {{{"utimensat", args{atCwd, str("d"), rec{uint64(0), uint64(0), uint64(0), uint64(1000000000)}, 0}}}},
	"fadvise64 advice":       {{{"open", args{str("b"), 64, 0}}, {"fadvise64", args{ref(0), 0, 0, 8}}}},
	"O_PATH makes nothing":   {{{"open", args{str("d"), 0x200040, 0}}}},
	"fstatat flags":          {{{"newfstatat", args{atCwd, str(""), 0, 1}}}},
	"faccessat2 flags":       {{{"faccessat2", args{0, str("b"), 0, 1}}}},
	"fallocate of a device":  {{{"open", args{str("/dev/null"), 1, 0}}, {"fallocate", args{ref(0), 0, 0, 0}}}},
	"flags of a device":      {{{"open", args{str("/dev/null"), 0, 0}}, {"fcntl", args{ref(0), 3, 0}}}},
	"copy_file_range, pipes": {{{"pipe2", args{buf(8), 0}}, {"copy_file_range", args{word{0, 0, 4}, 0, word{0, 0, 0}, 0, 0, 0}}}},
	"the end of a file needs no memory": {{
		{"open", args{str("e"), 64, 0o644}},
		{"read", args{ref(0), 0, 1}},
	}},
	"ppoll says what is left": {{{"ppoll", args{0, 0, rec{uint64(0), uint64(1000)}, 0, 0}}}},
	"a child that ended counts more than its signal": {{
		{"rt_sigaction", args{17, rec{sym("plain"), uint64(201326592), sym("restorer"), uint64(0)}, 0, 8}},
		{"fork", args{1}},
		{"wait4", args{ref(1), 0, 0, 0}},
	}, {}},
	"a thread stands for its process": {{
		{"thread", args{1}},
		{"getsid", args{ref(0)}},
		{"kill", args{ref(0), 12}},
	}, {}},
	"an eventfd knows no normal data": {{
		{"eventfd2", args{0, 0}},
		{"poll", args{rec{ref(0), uint16(0x2104), uint16(0)}, 1, 0}},
	}},
	"a pipe of no bytes": {{
		{"pipe2", args{buf(8), 0}},
		{"fcntl", args{word{0, 0, 4}, 1031, 0}},
		{"close", args{word{0, 0, 0}}},
		{"write", args{word{0, 0, 4}, str("t"), 0}},
	}},
	"recvfrom with a bad length": {{
		{"socketpair", args{1, 2049, 0, buf(8)}},
		{"recvfrom", args{word{0, 3, 0}, buf(8), 0, 64, buf(128), rec{uint32(4294967295)}}},
		{"read", args{word{0, 3, 4}, 0, 8}},
	}},
	"a timer's number is taken though it fails": {{
		{"timer_create", args{0, 0, 0}},
		{"timer_create", args{0, 0, buf(4)}},
	}},
	"mkdirat of no name":      {{{"mkdirat", args{0, str(""), 0}}}},
	"link looks at the first": {{{"link", args{str("a"), 0}}}},
	"advice that is none":     {{{"madvise", args{0, 0, 64}}}},
	"setsockopt of few bytes": {{{"socket", args{2, 1, 0}}, {"setsockopt", args{ref(0), 1, 16, 0, 0}}}},
	"getrlimit to nowhere":    {{{"getrlimit", args{7, 0}}, {"setrlimit", args{7, 0}}}},
	"lseek of a device":       {{{"open", args{str("/dev/null"), 0, 0}}, {"lseek", args{ref(0), 0, 3}}, {"lseek", args{ref(0), -1, 0}}}},
	"splice, a pipe's offset": {{
		{"pipe2", args{buf(8), 0}},
		{"splice", args{word{0, 0, 4}, 0, word{0, 0, 4}, rec{uint64(0)}, 64, 0}},
	}},
}

// TestCases: what once differed is the same.
func TestCases(t *testing.T) {
	x := newTester(t)
	for name, p := range cases {
		if d := x.check(p); d != nil {
			t.Errorf("%s:\n%s\n%s", name, strings.Join(d, "\n"), p)
		}
	}
}
