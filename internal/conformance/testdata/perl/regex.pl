# The regular expression engine.
use strict; use warnings;
my $t = "On 2024-02-29 alice\@example.org wrote to bob.smith\@mail.example.com; " x 20;
my @m = $t =~ /([\w.]+)@([\w.]+\w)/g; print scalar(@m), " $m[0] $m[3]\n"; if ($t =~ /(?<y>\d{4})-(?<m>\d\d)-(?<d>\d\d)/) { print "$+{y}/$+{m}/$+{d} $& [@-] [@+] ", length $`, "\n" }
(my $u = "hello world") =~ s/(\w+)/\u$1/g; print $u, " ", "a1b2" =~ s/(\d)/$1*2/ger, " ", "aaa" =~ s/a/b/r, " ", join("|", "k=v; x=y" =~ /(\w)=(\w)/g), " ", scalar(() = "banana" =~ /an/g), "\n";
for (["^(a+)+\$", "aaaaaaaaaaaaaaaaaaaaaaab"], ["(?i)HELLO", "say hello"], ["(?<=\\\$)\\d+", "cost \$100"], ["(\\w)(\\w)\\2\\1", "noon"], ["a{2,3}?", "aaaa"], ["^\\s*\$", ""], ["(?s)a.b", "a\nb"], ["\\bfoo\\b", "foobar foo"], ["(?>a+)ab", "aaab"], ["(a)|(b)", "b"], ["\\((?:[^()]++|(?R))*\\)", "f(a(b)c(d(e)))g"], ["x*+x", "xxx"], ["(?!ab)a.", "abac"], ["[[:upper:]]+", "abCDe"], ["\\d+(?=%)", "50 60%"], ["(?<n>.)\\k<n>", "hello"]) { my ($p, $s) = @$_; print "$p: ", $s =~ /$p/ ? "<$&> at $-[0]" . (defined $1 ? " 1=$1" : "") : "no", "\n" }
my $c = 0; "aaaa" =~ /a*(?{ $c++ })(*FAIL)/; print "$c\n"; $_ = "x=1,y=22"; while (/(\w)=(\d+)/g) { print "$1 at ", pos, "; " } print "\n"; pos = 0; print join(" ", map { defined ? $_ : "undef" } /\G(\w)/gc, /\G=/gc, /\G(\d)/gc, pos), "\n";
my $re = qr/(\d+) \s* ([a-z]+) # comment
/xi; print "$re ", join(",", "10 Kg" =~ $re), "\n"; print join("|", "2001:db8::1" =~ /^([0-9a-f:]+)$/), " ", "tEST" =~ s/(.)(.*)/\U$1\L$2\E!/r, " ", "abc" =~ tr/a-c/A-C/r, "\n"; for my $bad ("(", "a**", "[z-a]", "\\k<x>", "(?<=a*)b") { eval { "x" =~ /$bad/ }; print "$bad: $@" }
print "a" x 50000 =~ /^(?:a|b)*$/ ? "long ok\n" : "no\n"; my %h = (one => 1, two => 2); (my $tpl = "{one}+{two}={three}") =~ s/\{(\w+)\}/exists $h{$1} ? $h{$1} : "?"/ge; print "$tpl\n";
