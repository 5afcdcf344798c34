<?php
// A fatal error in the middle of output.
echo "before\n"; function f(int $x): string { return $x; } register_shutdown_function(fn() => print("shutdown " . (error_get_last()["type"] ?? "none") . "\n")); echo f(5), "\n"; $a = [1, 2]; echo $a[7] ?? "d", "\n"; ini_set("memory_limit", "8M"); echo strlen(str_repeat("x", 100000000));
