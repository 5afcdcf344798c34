# String functions.
use strict; use warnings;
my $s = "The quick brown fox"; print length($s), " ", uc $s, " ", lc $s, " ", ucfirst lc $s, " ", scalar reverse($s), " ", substr($s, 4, 5), " ", substr($s, -3), " ", index($s, "quick"), " ", rindex($s, "o"), " ", "ab" x 3, " ", join("-", split / /, $s), "\n";
my $t = $s; substr($t, 0, 3) = "A"; substr($t, -3, 3, "cat"); print "$t ", sprintf("%-10s|%10s|%.3s|%3\$s %1\$s", "l", "r", "cut"), " ", ord("A"), chr(97), " ", lcfirst("ABC"), " ", "a" lt "b" ? 1 : 0, " ", "abc" cmp "abd", " ", "10" <=> "9", " ", "10" cmp "9", "\n";
(my $u = $s) =~ tr/a-zA-Z//cd; print $u, " ", ($s =~ tr/o/o/), " ", ($u =~ tr/a-y/b-z/r), " ", join(",", map { sprintf "%02x", $_ } unpack("C*", "\x{e9}\n")), " ", join("|", split(//, "abc")), " ", join("|", split(/(,)/, "a,b,,c,,")), " ", join("|", split(/,/, "a,b,,c,,", -1)), " ", join("|", split(" ", "  a  b ")), "\n";
print "heredoc: ", <<"A", <<'B', "done\n";
interpolated $s @{[ 1 + 2 ]} ${\ uc "x"} \x41\t|
A
raw $s \n
B
print join(",", pack("A3 n N v C a4 H4", "ab", 258, 16909060, 513, 65, "x", "beef")) =~ s/[^ -~]/./gr, " ", join(",", unpack("n N/a*", pack("n N/a*", 7, "counted"))), " ", unpack("%32C*", $s), " ", join(",", unpack("(A2)*", "aabbcc")), " ", sprintf("%vd", "1.22.333"), " ", quotemeta("a.b*c"), "\n";
my $big = join ",", 1 .. 3000; print length $big, " ", substr($big, 5000, 20), " ", ($big =~ tr/,//), " ", index($big, "2999"), "\n"; print "chained: ", join(" ", map { ucfirst } grep { length > 3 } split ' ', $s), " @{[ sort { length $a <=> length $b || $a cmp $b } split ' ', $s ]}\n"; chomp(my $c = "line\n"); chop $c; print "$c ", lc("ÀB"), " ", "abc" . 1 + 2, "\n";
