<?php
// String functions.
$s = "The quick brown fox"; var_dump(strlen($s), strtoupper($s), ucwords(strtolower($s)), strrev($s), substr($s, 4, 5), substr($s, -3), strpos($s, "quick"), strrpos($s, "o"), strpos($s, "zz"), str_replace("o", "0", $s, $n), $n, explode(" ", $s), implode("-", [1, 2]), str_pad("x", 5, "ab", STR_PAD_BOTH), trim("  x "), wordwrap($s, 10, "\n", true), similar_text("World", "Word"), levenshtein("kitten", "sitting"), soundex("Robert"), metaphone("Thompson"), md5($s), sha1($s), crc32($s), hash("sha256", $s), hash("xxh3", $s), str_word_count($s), ucfirst("abc"), nl2br("a\nb"), htmlspecialchars("<a href='x'>"), strip_tags("<b>bold</b>"), addslashes("a'b"), strtr("Hi all", ["Hi" => "Hello", "all" => "world"]), substr_count("aaa", "a"), chunk_split("abcd", 2, "|"), sprintf("%'.10d|%5.1f|%-5s|", 42, 3.14159, "ab"), vsprintf("%2\$s %1\$s", ["a", "b"]), strcmp("a", "b"), strnatcmp("img12", "img10"), str_contains($s, "fox"), nl2br("x"), bin2hex("abc"), base64_encode("hello"), urlencode("a b/é"), quoted_printable_encode("é=x"), convert_uuencode("test"), "é"[0] === "\xc3");
echo <<<A
heredoc {$s} ${n} {$s[0]} \x41 \u{1F98E}
A . <<<'B'

raw $s \n
B . "\n"; $b = ""; for ($i = 0; $i < 3000; $i++) $b .= $i . ","; echo strlen($b), " ", substr($b, 5000, 20), " ", md5($b), "\n"; echo str_repeat("=", 20), ucwords("hello-world foo", "-"), lcfirst("ABC"), " ", "abc" <=> "abd", "\n";
