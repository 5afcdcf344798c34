words = Hash.new(0)
5000.times { |i| "item#{i % 97} has #{i * 7 % 31} of part-#{i % 13}".scan(/[a-z]+|\d+/) { |w| words[w.to_sym] += 1 } }
p words.sort_by { |w, n| [-n, w] }.first(5)
