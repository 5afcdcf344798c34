package probe

import (
	"fmt"

	"symchef/internal/kernel"
	"symchef/internal/model"
)

// Version changes where what Find finds does.
const Version = 2

// Find completes a binding that names functions: it starts the program, calls them, finds the places and numbers of the model in the object at path,
// and holds the model against the stock functions. Addresses are of the process; the result says where the object begins there.
func Find(cfg kernel.Config, path string, b *model.Binding) (base uint64, err error) {
	p, err := Start(cfg)
	if err != nil {
		return 0, err
	}
	img, err := p.Open(path)
	if err != nil {
		return 0, err
	}
	find := finders[b.Name]
	if find == nil {
		return 0, fmt.Errorf("nothing finds a %s", b.Name)
	}
	if err := find(p, img, b); err != nil {
		return 0, err
	}
	if b.Program == "" { // what is found alone is the stock function, by what it does
		return img.Base, nil
	}
	return img.Base, Check(p, img, *b)
}

// finders find models by their names.
var finders = map[string]func(*Process, *Image, *model.Binding) error{
	"deferred-identity": findIdentity,
	"decimal-width":     findWidth,
}
