# args: one --two
# env: COLOUR=blue
# Standard input, arguments, environment.
p ARGV, ENV["COLOUR"], ENV["NOPE"]; args = ARGV.dup; ARGV.clear; p gets, $_, $., STDIN.readline(chomp: true), STDIN.read(4), STDIN.getc, STDIN.each_line.with_index.map { |l, i| "#{i}#{l.chomp}" }.join("|"), gets, STDIN.read, STDIN.eof?; begin; STDIN.readline; rescue EOFError => e; puts e.message; end; $stderr.print "unterminated"; exit 23
