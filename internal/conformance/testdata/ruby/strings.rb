# Strings and symbols.
s = "The quick brown fox"
p s.length, s.upcase, s.swapcase, s.reverse, s[4, 5], s[-3..], s[/q\w+/], s.index("o"), s.rindex("o"), s.sub("quick", "slow"), s.gsub(/o/, "0"), s.tr("a-y", "b-z"), s.split, s.chars.first(3), s.bytes.sum, s.center(30, "*"), s * 2, s.count("lo"), s.delete("aeiou"), s.squeeze, s.each_char.to_a.uniq.size, s.start_with?("The"), s.hash == s.dup.hash, s.succ, "az".next, "Zz".succ, s.unpack("C3"), [1, 2].pack("s>L<"), s.crypt("ab"), s.sum, s.partition(" "), s =~ /brown/, $~[0]
p "é漢🦎".length, "é漢🦎".bytesize, "é漢🦎".reverse, "é漢🦎".encode("UTF-16LE").bytes, "straße".upcase, "ÀÉ".downcase, "\xff".valid_encoding?, "\xff".scrub("?"), "é".unicode_normalize(:nfd).length, "漢".ord, 0x1f98e.chr("UTF-8"), "é".force_encoding("BINARY"), ("é" + "\xff".b rescue $!.message), "abc".encoding, :sym.to_proc.call("x") rescue p $!.message
puts "%-10s|%10s|%05.1f|%x" % ["l", "r", 3.14159, 255], <<~HERE, 'single #{x}', "tab\t#{1 + 2} \u00e9 \x41", "a".ljust(3, ".") + "|", "%s and %p" % [nil, nil], "%<a>d %{b}" % { a: 1, b: 2 }
  heredoc #{s.size}
    indented
HERE
p "a,b,,c,,".split(","), "a,b,,c,,".split(",", -1), "a b c".split(" ", 2), "line1\nline2\r\n".lines, "x".casecmp?("X"), "abc".each_char.with_index.map { |c, i| c * i }, "hello world".scan(/o/), "k1=v1;k2=v2".scan(/(\w+)=(\w+)/), "ab\0c".inspect, "abc" <=> "abd", "a".."e", ("a".."e").to_a, "hello"[1..3], "hello".insert(2, "XX"), "title case here".split.map(&:capitalize).join(" "), "snake_case".gsub(/_(\w)/) { $1.upcase }, "%c" % 97, "abc".frozen?, :a.frozen?, "needle" * 2000 =~ /needle$/, ("ab" * 3000).index("ba" * 1000)
big = +""; 3000.times { |i| big << i.to_s << "," }; p big.size, big[5000, 20], big.hash == big.dup.hash
