package interp

// A Structure is what a family of an interpreter's objects looks like: numbers and texts by the names that the table of forms has for it.
type Structure struct {
	numbers map[string][]uint64
	texts   map[string]string
}

// N is the number of a name; there is one.
func (x *Structure) N(name string) uint64 { return x.numbers[name][0] }

// All are the numbers of a name.
func (x *Structure) All(name string) []uint64 { return x.numbers[name] }

// Text is the text of a name.
func (x *Structure) Text(name string) string { return x.texts[name] }

// parseStructure reads (NAME N...) and (NAME TEXT), which have been held against the table.
func parseStructure(n *sexp, args []sexp) (*Structure, error) {
	f := &Structure{map[string][]uint64{}, map[string]string{}}
	for i := range args {
		name, row := args[i].list[0].text, args[i].list[1:]
		if row[0].kind == stringNode {
			f.texts[name] = row[0].text
			continue
		}
		for k := range row {
			f.numbers[name] = append(f.numbers[name], uint64(row[k].num))
		}
	}
	if len(f.numbers["plain"])%2 != 0 {
		return nil, n.errorf("(plain TYPE BYTES...): a type without its bytes")
	}
	return f, nil
}

// structureOf are the forms with the structures that kinds of parts need.
var structureOf = map[string]string{PartConstants: "objects", PartSlab: "slabs"}
