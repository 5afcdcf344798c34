# Calls: recursion, arguments by default, lambdas, scripts in the caller's frame, commands by their name.
proc depth {n} { expr {$n < 1 ? 0 : 1 + [depth [expr {$n - 7}]]} }

proc each_square {name n script} {
    upvar 1 $name i
    for {set i 0} {$i * $i < $n} {incr i} { uplevel 1 $script }
}

proc more {x {by 1}} { expr {$x + $by} }

proc test_calls {} {
    set n [symchef integer n 0 20]
    if {$n < 10} { set by depth; return [$by $n] }
    if {$n < 12} { return [apply {{x y} { more $x $y }} 5 2] }
    set count 0
    each_square i $n { if {$i > 2} { set count [more $count] } }
    return $count
}
