# Numbers: division and remainder of both signs, products, absolute values, fractions.
proc test_numbers {} {
    set n [symchef integer n -8 8]
    set m [symchef integer m 1 5]
    if {$n % $m == 0 && $n / $m > 2} { return multiple }
    if {$n * $m < -20} { return low }
    if {abs($n) - $m == 1} { return next }
    expr {$n / 2.0 > 1.25}
}
