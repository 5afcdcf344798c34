# args: -v --name=x file1 file2
# env: COLOUR=blue EMPTY=
# Standard input, arguments, environment, formats.
use strict; use warnings;
print "@ARGV | ", shift, " $ENV{COLOUR} [$ENV{EMPTY}] ", defined $ENV{NOPE} ? 1 : 0, "\n"; my $first = <STDIN>; print "first: $first"; my (%w, $n); while (my $l = <STDIN>) { chomp $l; last if $l eq "END"; $n++; $w{lc $_}++ for $l =~ /\w+/g } print "$n lines: ", join(" ", map { "$_=$w{$_}" } sort keys %w), "\n"; read STDIN, my $b, 4; print "[$b] ", getc(STDIN), "\n"; local $/ = ""; my $para = <STDIN>; print "para: ", length $para, "\n"; undef $/; my $all = <STDIN>; print length $all, " ", eof(STDIN) ? "eof" : "more", "\n";
our ($name, $val, $text) = ("apple", 1.5, "a long text that has to be wrapped over several lines");
format STDOUT =
@<<<<<<<< @>>>>>> @##.## ^<<<<<<<<<<
$name, $name, $val, $text
~~                       ^<<<<<<<<<<
$text
.
write; exit 17;
