# Strings: length, characters, search, comparison, keys of an array, joined.
proc test_strings {} {
    set s [symchef string s 3 0]
    for {set i 0} {$i < [string length $s]} {incr i} {
        set c [string index $s $i]
        symchef assume {$c eq "a" || $c eq "b" || $c eq "-"}
    }
    if {$s eq ""} { return none }
    array set keys {a 1 ab 2 b-a 3}
    if {[info exists keys($s)]} { return key }
    set at [string first - $s]
    if {$at >= 0} { return $at }
    return "[string compare $s b] [string match aa* $s] [string length $s]"
}
