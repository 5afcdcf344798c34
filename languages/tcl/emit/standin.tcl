# A stand-in for the library symchef, so that this file needs nothing but the tested code: it hands out the inputs of one case.
namespace eval symchef {
    proc value {name args} {
        variable inputs
        variable used
        if {[incr used($name)] > 1} { append name # $used($name) }
        dict get $inputs $name
    }
    proc choice {name options args} { lindex $options [value $name] }
    proc assume {condition} {
        if {![uplevel 1 [list expr $condition]]} { error "an assumption of the test does not hold for these inputs" }
    }
    proc same {value} { return $value }
    proc nothing {args} {}
    namespace ensemble create -map {string value bytes value integer value double value boolean value choice choice assume assume
        concretize same log nothing expect nothing}
}

# How the test ends on one case, each time in a newly loaded file.
proc outcome {inputs} {
    set symchef::inputs $inputs
    array unset symchef::used
    if {[catch { uplevel #0 [list source $::test_file]; uplevel #0 [list $::test_name] } value options] in {0 2}} { return [list ok $value] }
    set code [dict get $options -errorcode]
    list raises [expr {$code eq "NONE" ? "error" : [join [lrange $code 0 1]]}]
}
