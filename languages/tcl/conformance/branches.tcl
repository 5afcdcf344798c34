# Branches: comparisons in chains, and, or, not, loops that a branch ends.
proc test_branches {} {
    set n [symchef integer n 0 20]
    set b [symchef boolean b]
    if {$b && $n > 15 || !$b && $n == 3} { return both }
    if {5 < $n && $n <= 7} { return chain }
    for {set steps 0} {$n > 1 && $steps < 3} {incr steps} {
        set n [expr {$n % 2 == 0 ? $n / 2 : $n - 1}]
    }
    return $steps
}
