# Characters beyond bytes.
use strict; use warnings; use utf8; binmode STDOUT, ":utf8";
my $s = "aé漢🦎ß"; print length($s), " ", uc($s), " ", ucfirst("ǆ"), " ", scalar reverse($s), " ", join(",", map { sprintf "U+%04X", ord } split //, $s), " ", ($s =~ /(\w+)/)[0], " ", $s =~ /\p{Han}/ ? "han" : "", " ", lc("ΣΑΣ"), "\n";
{ my $b = $s; utf8::encode($b); print length($b), " ", join("", map { sprintf "%02x", ord } split //, $b), " "; utf8::decode($b); print $b eq $s ? "back" : "lost", " ", utf8::is_utf8($b) ? 1 : 0, "\n" }
print join(" ", sort("é", "z", "a", "漢")), " ", "\x{1F98E}\N{U+E9}", " ", "é" =~ /^\w$/ ? 1 : 0, " ", "é" =~ /^\w$/a ? 1 : 0, " ", sprintf("%-5s|%5s|", "é漢", "ß"), " ", substr("漢字かな", 1, 2), " ", index("漢字かな", "か"), " ", "漢" x 3, " ", ord("ÿ"), "\n"; (my $t = $s) =~ s/(\X)/<$1>/g; print "$t\n"; no utf8; print length("é"), "\n";
