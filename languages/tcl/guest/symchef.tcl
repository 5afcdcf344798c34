# Symbolic tests for Tcl, docs/your-own-language.md:
#
#     proc test_email {} {
#         set email [symchef string email 10]
#         if {[string first @ $email] < 3} { error "no @ after three characters" }
#     }
#
# This file is the library, and the program that runs a test: tclsh symchef.tcl /abs/test.tcl[::NAME]. Nothing here looks at a symbolic value.

namespace eval symchef {
    variable device "" begun 0 inputs {} outcome {log {}} replay "" told "" waiting {} expected {} path "" test ""

    # Ends a call that asks for something impossible: the message, and the line of the test's file.
    proc misuse {message} {
        variable path
        for {set i [info frame]} {$i > 0} {incr i -1} {
            set at [info frame $i]
            if {[dict exists $at file] && [dict get $at file] eq $path} {
                append message " (line [dict get $at line])"
                break
            }
        }
        throw SYMCHEF $message
    }

    # A field of a request.
    proc quote {text} {
        set out ""
        foreach c [split [encoding convertto utf-8 $text] ""] {
            append out [expr {[string is graph $c] && [string is ascii $c] && $c ne "%" ? $c : [format %%%02X [scan $c %c]]}]
        }
        expr {$out eq "" ? "%" : $out}
    }

    # One round trip with the device (docs/device-protocol.md): the line, and the body behind it, are one write. What it gives are the bytes that
    # were asked for, or the fields of the reply. In native replay the same requests are answered from the file of a test case.
    proc ask {fields {body ""}} {
        variable device
        variable replay
        if {$replay ne ""} { return [answer $fields $body] }
        if {$device eq ""} {
            set device [open /dev/symchef r+]
            fconfigure $device -translation binary -buffersize 1000000
            ask {hello 1}
        }
        if {[lindex $fields end] eq "-"} { lappend fields [string length $body] }
        puts -nonewline $device "[join [lmap f $fields { quote $f }] { }]\n$body"
        flush $device
        set reply [gets $device]
        if {[string match err* $reply]} { misuse [string range $reply 4 end] }
        switch [lindex $fields 0] {
            value { return [read $device [lindex $fields 2]] }
            concretize { return [read $device [lindex $fields 2]] }
        }
        lrange $reply 1 end
    }

    proc answer {fields body} {
        variable inputs
        variable outcome
        variable told
        switch [lindex $fields 0] {
            input {
                set inputs [lassign $inputs name type value hex]
                if {$name ne [lindex $fields 1] || $type ne [lindex $fields 2]} { throw SYMCHEF "replay: no [lrange $fields 1 2]" }
                return [switch $type { str - bytes - float { binary format H* $hex } bool { expr {$value eq "true"} } default { expr {$value} } }]
            }
            concretize { return $body }
            log { dict lappend outcome log $body }
            returned { dict set outcome returned_hex [binary encode hex $body] }
            prune - usage { answer [list outcome [string map {prune pruned} [lindex $fields 0]] "" -] [lindex $fields 1] }
            tests { answer [list usage "several tests, choose one with ::NAME: [lrange $fields 2 end]"] "" }
            outcome {
                set log [join [lmap line [dict get $outcome log] { json $line }] ,]
                set more [join [lmap {k v} [dict remove $outcome log] { string cat , [json $k] : [json $v] }] ""]
                set f [open $told wb]
                puts $f "{\"version\":1,\"kind\":[json [lindex $fields 1]],\"type\":[json [lindex $fields 2]],\"message\":[json $body],\"log\":\[$log\]$more}"
                close $f
            }
        }
        if {[lindex $fields 0] in {prune usage}} {
            puts stderr "symchef: [lindex $fields 1]"
            exit [expr {[lindex $fields 0] eq "usage" ? 2 : 0}]
        }
    }

    # A text of bytes, UTF-8, for JSON.
    proc json {text} {
        string cat \" [join [lmap c [split $text ""] { expr {[string is control $c] && $c < "\x80" || $c in {\" \\} ? [format \\u%04x [scan $c %c]] : $c} }] ""] \"
    }

    # The inputs of a test case: name, type, value and bytes of each.
    proc read_inputs {path} {
        variable inputs {}
        set f [open $path]
        fconfigure $f -encoding utf-8
        set string {"((?:[^"\\]|\\.)*)"}
        foreach {_ name type value _ hex} [regexp -all -inline "{\"name\":$string,\"type\":\"(\\w+)\"(?:,\"value\":($string|\[\\w.+-]+))?(?:,\"bytes_hex\":\"(\\w*)\")?}" [read $f]] {
            lappend inputs [subst -nocommands -novariables $name] $type $value $hex
        }
        close $f
    }

    proc input {name args} {
        variable begun
        variable replay
        if {!$begun} { misuse "inputs exist only inside a test run by symchef" }
        if {$name eq ""} { misuse "an input's name is a text that is not empty" }
        lassign [ask [list input $name {*}$args]] id n
        if {$replay ne ""} { return $id }
        switch [lindex $args 0] {
            choice { return $n }
            str - bytes { if {$n == 0} { return "" } else { return [ask [list value $id $n 0]] } }
            float { return [ask [list value $id 8 0]] }
        }
        binary scan [ask [list value $id 8 0]] w value
        return $value
    }

    proc sequence {name type fill size least args} {
        if {[string is entier -strict $size] && ($size < 0 || $size > 1048576)} { misuse "input $name: needs 0 <= size <= 1048576, not $size" }
        set default [expr {[string is entier -strict $size] ? [string repeat $fill $size] : $size}]
        set most [string length $default]
        if {$least ne "" && !([string is entier -strict $least] && 0 <= $least && $least <= $most)} { misuse "input $name: needs 0 <= least <= $most, not $least" }
        input $name $type $default [expr {$least eq "" ? $most : $least}] $most {*}$args
    }

    # An ASCII string of size characters, or of least to size. In place of the size, the first value to try.
    proc string_ {name size {least ""}} { sequence $name str a $size $least 2 }

    # The same with any bytes.
    proc bytes {name size {least ""}} { sequence $name bytes \0 $size $least }

    # Checks that all of these are numbers, where they are given.
    proc numbers {name class words args} {
        foreach x $args {
            if {$x ne "" && (![string is $class -strict $x] || $x != $x)} { misuse "input $name: bounds and default must be $words, not $x" }
        }
    }

    # A number, least <= value <= most.
    proc integer {name {least -9223372036854775808} {most 9223372036854775807} {default ""}} {
        numbers $name entier "whole numbers" $least $most $default
        input $name int [expr {$default eq "" ? min(max(0, $least), $most) : $default}] $least $most
    }
    proc double_ {name least most {default ""}} {
        numbers $name double numbers $least $most $default
        set default [expr {$default eq "" ? min(max(0.0, $least), $most) : $default}]
        binary scan [input $name float {*}[lmap x [list $default $least $most] { format %.17g $x }]] q value
        return $value
    }
    proc boolean {name {default 0}} {
        if {![string is boolean -strict $default]} { misuse "input $name: the default must be a boolean, not $default" }
        expr {[input $name bool [expr {!!$default}]] ? 1 : 0}
    }

    # One of a list; the path forks once per option.
    proc choice {name options {default 0}} {
        if {![string is list $options] || [llength $options] == 0} { misuse "input $name: the options must be a list that is not empty" }
        if {![string is entier -strict $default] || $default < 0 || $default >= [llength $options]} { misuse "input $name: the default must be the index of an option, not $default" }
        lindex $options [input $name choice $default [llength $options]]
    }

    # Goes on only where the expression holds.
    proc assume {condition} {
        if {![uplevel 1 [list expr $condition]]} { ask [list prune] }
    }

    # The value, fixed to one on this path.
    proc concretize {value} { ask {concretize -} $value }

    # A line in the test case.
    proc log {args} {
        variable begun
        variable waiting
        set line [encoding convertto utf-8 [join $args]]
        if {$begun} { ask {log -} $line } else { lappend waiting $line }
        return
    }

    # Beginnings of error codes, and parts of messages, that are no findings.
    proc expect {args} {
        variable expected
        lappend expected {*}$args
        return
    }

    variable calls {string string_ bytes bytes integer integer double double_ boolean boolean choice choice assume assume concretize concretize log log expect expect}

    # What a test calls: symchef CALL ARGUMENT...
    proc ::symchef {args} {
        set call [lindex $args 0]
        if {![dict exists $symchef::calls $call]} { symchef::misuse "symchef $call: the calls are [join [dict keys $symchef::calls] {, }]" }
        set to symchef::[dict get $symchef::calls $call]
        set names [info args $to]
        set least [llength [lmap name $names { if {$name eq "args" || [info default $to $name _]} continue else { set name } }]]
        set most [expr {[lindex $names end] eq "args" ? [llength $args] : [llength $names]}]
        set n [expr {[llength $args] - 1}]
        if {$n < $least || $n > $most} {
            symchef::misuse "the call is: symchef $call [join [lmap name $names { expr {$name eq "args" || [info default $to $name _] ? "?$name?" : $name} }]]"
        }
        tailcall $to {*}[lrange $args 1 end]
    }

    proc usage {message} { ask [list usage $message] }

    proc run {argument} {
        variable begun
        variable expected
        variable path
        variable replay
        variable told
        variable waiting
        regexp {^(.*?)(?:::([^/]*))?$} $argument _ path test
        if {[file exists /symchef/replay/native]} {
            lassign {/symchef/replay/inputs.json /symchef/replay/outcome.json} replay told
        } elseif {[info exists ::env(SYMCHEF_REPLAY)]} {
            lassign [list $::env(SYMCHEF_REPLAY) $::env(SYMCHEF_OUTCOME)] replay told
        }
        if {[catch { uplevel #0 [list source $path] } why]} { usage "$path: $why" }
        set names [lsort [lmap name [info procs ::test*] { namespace tail $name }]]
        if {$test eq "*" || $test eq "" && [llength $names] > 1} { ask [list tests [llength $names] {*}$names] }
        if {$test eq ""} { set test [lindex $names 0] }
        if {$test ni $names} { usage "$path: [expr {$names eq "" ? "no test: define a procedure test..." : "no test named $test; tests here: $names"}]" }
        if {$replay ne ""} { read_inputs $replay } else { ask [list begin $test] }
        set begun 1
        foreach line $waiting { ask {log -} $line }
        if {[catch { uplevel #0 [list $test] } value options] in {0 2}} {
            set value [encoding convertto utf-8 $value]
            if {[string length $value] <= 4000} { ask {returned -} "s[string length $value]:$value" }
            ask {outcome ok "" -}
            return
        }
        set code [dict get $options -errorcode]
        if {[lindex $code 0] eq "SYMCHEF"} { usage "$path: $value" }
        set type [expr {$code eq "NONE" ? "error" : [join [lrange $code 0 1]]}]
        set kind exception
        foreach x $expected {
            if {[string match $x* $type] || [string first $x $value] >= 0} { set kind expected }
        }
        ask [list outcome $kind $type -] [encoding convertto utf-8 $value]
    }
}

symchef::run [lindex $argv 0]
