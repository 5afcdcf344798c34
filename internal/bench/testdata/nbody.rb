bodies = [[0.0, 0.0, 0.0, 39.5], [4.84, -1.16, -0.10, 0.04], [8.34, 4.12, -0.4, 0.01]].map { |x, y, z, m| { p: [x, y, z], v: [0.0, 1.0 / m, 0.1], m: m } }
1200.times do
  bodies.combination(2) do |a, b|
    d = a[:p].zip(b[:p]).map { |s, t| s - t }
    f = 0.001 / (d.sum { |x| x * x } + 0.01)**1.5
    3.times do |i|
      a[:v][i] -= d[i] * b[:m] * f
      b[:v][i] += d[i] * a[:m] * f
    end
  end
  bodies.each { |b| 3.times { |i| b[:p][i] += 0.001 * b[:v][i] } }
end
puts format("%.6f", bodies.sum { |b| b[:p].sum })
