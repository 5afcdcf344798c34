package kernel

import (
	"golang.org/x/sys/unix"

	"symchef/internal/mem"
)

// fileKind says what an open file reads and writes: its number in a snapshot, and the place of its behaviour in kinds.
type fileKind uint8

const (
	fileLower  fileKind = iota // a regular file of the lower layer: Back
	fileNode                   // a regular file of the overlay: Node
	fileDir                    // a directory: Path
	filePath                   // opened with O_PATH
	filePipe                   // reads pipe In, writes pipe Out; -1 is none
	fileSocket                 // socket Sock
	fileStdin                  // Config.Stdin
	fileOut                    // captured standard output
	fileErr                    // captured standard error
	fileNull
	fileZero
	fileFull
	fileRandom
	fileTTY // terminal In
	fileDevice
	fileEpoll
	fileEvent
	filePID    // process PID
	fileMaster // the other side of terminal In
)

var kinds = [...]kind{
	fileLower: lowerFile{}, fileNode: nodeFile{}, fileDir: directory{}, filePath: pathOnly{}, filePipe: pipeFile{}, fileSocket: socketFile{},
	fileStdin: stdinFile{}, fileOut: outFile{stream: 1, name: "standard output"}, fileErr: outFile{stream: 2, name: "standard error"},
	fileNull: nullFile{}, fileZero: zeroFile{}, fileFull: fullFile{}, fileRandom: randomFile{}, fileTTY: ttyFile{}, fileDevice: deviceFile{},
	fileEpoll: epollFile{}, fileEvent: eventFile{}, filePID: pidFile{}, fileMaster: masterFile{},
}

// kind is what open files of one kind do where files differ. Its values hold no state, which is in file. f is for reading: to change it, see
// System.file. Embed plainKind for what need not be said.
type kind interface {
	traits() trait
	// read returns up to n bytes from offset at, where the kind has offsets; f is readable.
	read(c *call, i int, f *file, at int64, n int) (mem.Bytes, error)
	// write writes b at offset off, or, if that is below 0, at the file's, and moves it; f is writable.
	write(c *call, i int, f *file, off int64, b mem.Bytes) (uint64, error)
	// takes is how many bytes a read takes away from f at the most; 0 where it finds nothing.
	takes(s *System, f *file) uint64
	// held is how many bytes a read finds, as ioctl(FIONREAD) says.
	held(s *System, f *file) (int, error)
	stat(s *System, f *file) stat
	// ready returns the poll(2) events that f has now, without those of normal data.
	ready(s *System, f *file) uint32
	// activity counts what happened to f that would wake a task which polls it.
	activity(s *System, f *file) int
	// closed is the end of f, whose last descriptor is closed.
	closed(s *System, f *file)
	// sound reports whether what f refers to is there: it may come from a damaged snapshot.
	sound(s *System, f *file) bool

	orderedKind
}

// trait is what a kind has for all its files.
type trait uint8

const (
	seeks    trait = 1 << iota // has an offset for lseek(2); its readiness is no matter (file_can_poll in include/linux/poll.h)
	advances                   // reading moves the offset
	opaque                     // can be neither read nor written
	literal                    // what is written to it has to be concrete
	still                      // lseek(2) leaves it where it is, at 0 (noop_llseek, null_lseek)
	bulk                       // it moves as many bytes as it is asked for: see inPieces
)

func (f *file) kind() kind { return kinds[f.Kind] }

func (f *file) has(t trait) bool { return f.kind().traits()&t != 0 }

// plainKind refuses to be read and written, is always ready and refers to nothing but an inode.
type plainKind struct{ unordered }

func (plainKind) traits() trait { return 0 }

func (plainKind) read(*call, int, *file, int64, int) (mem.Bytes, error) {
	return mem.Bytes{}, unix.EINVAL
}

func (plainKind) write(*call, int, *file, int64, mem.Bytes) (uint64, error) { return 0, unix.EINVAL }

func (plainKind) takes(*System, *file) uint64 { return maxWhole }

func (plainKind) held(*System, *file) (int, error) { return 0, unix.ENOTTY }

func (plainKind) stat(s *System, f *file) stat {
	if f.Node != 0 {
		return s.nodeStat(f.Node)
	}
	return f.St
}

func (plainKind) ready(*System, *file) uint32 { return unix.POLLIN | unix.POLLOUT }

func (plainKind) activity(*System, *file) int { return 0 }

func (plainKind) closed(*System, *file) {}

func (plainKind) sound(*System, *file) bool { return true }

// nameless is fstat(2) of a file that is in no folder.
func nameless(f *file, mode uint32) stat {
	return stat{Dev: overlayDev + 3, Ino: fnv(f.Path), Nlink: 1, Mode: mode}
}

// ownNameless is nameless of a file that belongs to the guest and is as old as its world.
func (s *System) ownNameless(f *file, mode uint32) stat {
	st := nameless(f, mode)
	st.UID, st.GID = uint32(s.cfg.UID), uint32(s.cfg.GID)
	st.Atime, st.Mtime, st.Ctime = Epoch, Epoch, Epoch
	return st
}
