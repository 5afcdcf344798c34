<?php
# args: one --two=3
# env: COLOUR=blue
print_r($argv); echo $argc, getenv("COLOUR"), var_export(getenv("NOPE"), true), PHP_SAPI, PHP_OS, PHP_EOL; echo fgets(STDIN), fgetc(STDIN), stream_get_line(STDIN, 100, "\n"), "\n"; fscanf(STDIN, "%d %s", $n, $w); echo $n, $w, "\n"; while (($l = fgets(STDIN)) !== false) echo strlen($l), ","; var_dump(feof(STDIN), fgets(STDIN));
fputs(STDERR, "err\n"); print_r(getopt("a:", ["two:"])); exit(19);
