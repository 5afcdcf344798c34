# Megabytes of output, buffered and not.
use strict; use warnings; for my $i (1 .. 40000) { print $i, " ", $i * $i, " text\n" } print "0123456789" x 100000, "\n"; print STDERR "e" x 200000, "\n"; $| = 1; print $_, ";" for 1 .. 500; syswrite STDOUT, pack("C*", map { $_ % 256 } 0 .. 99999); printf "%s\n", join ",", 1 .. 5000; warn "end\n";
