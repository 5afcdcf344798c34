# Errors: raised, caught by code, raised again, a last word, and not caught.
proc inner {n} {
    if {$n < 4} { throw SMALL small }
    if {$n == 5} { throw {FIVE IS HERE} five }
    if {$n > 17} { return [expr {$n / ($n - $n)}] }
    expr {$n > 9}
}

proc test_exceptions {} {
    set n [symchef integer n 0 20]
    set last "not yet"
    try {
        set got [inner $n]
    } trap SMALL {message options} {
        if {$n == 2} { return -options $options $message }
        set got $message
    } trap FIVE {} {
        set got 5
    } finally {
        set last last
    }
    list $got $last
}
