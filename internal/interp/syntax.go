package interp

// Syntax is what lines of source look like: package high, which tells of them, explains each.
type Syntax struct {
	Comments   []string
	Conditions []string
	Bodies     []string
	Assertions []string
	Joints     []string
}

// parseSyntax reads (comment TEXT...) and the like.
func parseSyntax(d *Desc, _ *sexp, args []sexp) (err error) {
	x := &d.Syntax
	lists := map[string]*[]string{"comment": &x.Comments, "condition": &x.Conditions, "body": &x.Bodies, "assertion": &x.Assertions, "joint": &x.Joints}
	for i := range args {
		n := &args[i]
		if *lists[n.list[0].text], err = distinct(n, n.list[1:]); err != nil {
			return err
		}
	}
	return nil
}
