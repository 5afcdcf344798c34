# Big numbers by the library, and by hand.
use strict; use warnings;
my @f = (1); for my $n (2 .. 120) { my $c = 0; for (@f) { $c += $_ * $n; $_ = $c % 1e6; $c = int($c / 1e6) } while ($c) { push @f, $c % 1e6; $c = int($c / 1e6) } } print $f[-1], join("", map { sprintf "%06d", $_ } reverse @f[0 .. $#f - 1]), "\n";
if (eval { require Math::BigInt; 1 }) { my $a = Math::BigInt->new(3)->bpow(300); print "$a ", $a->copy->bmod(10 ** 9 + 7), " ", $a->copy->bsqrt, " ", Math::BigInt->new("123456789" x 5) * Math::BigInt->new("-987654321" x 5), "\n"; print Math::BigInt->new(100)->bfac, "\n" } else { print "no Math::BigInt\n" }
