# Megabytes of output.
30000.times { |i| puts "#{i} #{i * i} text" }; print "0123456789" * 100000, "\n"; $stderr.write("e" * 200000, "\n"); $stdout.sync = true; 300.times { |i| print i, ";" }; $stdout.binmode; $stdout.write((0..255).to_a.pack("C*") * 400); p (1..3000).to_a; warn "end"
