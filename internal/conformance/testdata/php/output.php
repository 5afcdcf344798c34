<?php
// Megabytes of output.
for ($i = 1; $i <= 40000; $i++) echo $i, " ", $i * $i, " text\n"; echo str_repeat("0123456789", 100000), "\n"; fwrite(STDERR, str_repeat("e", 200000) . "\n"); for ($i = 0; $i < 300; $i++) { print $i . ";"; flush(); } ob_start(fn($b) => strtoupper($b)); for ($i = 0; $i < 3000; $i++) echo "line $i\n"; ob_end_flush(); print_r(range(1, 2000)); fwrite(STDOUT, pack("C*", ...range(0, 255))); fwrite(STDERR, "end\n");
