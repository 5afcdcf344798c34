bodies = [[i * 1.7, i * i * 0.3, i % 3, 0.01 * i, -0.02 * i, 0.005, 1 / i] for i in range(1, 6)]
pairs = [(a, b) for i, a in enumerate(bodies) for b in bodies[i + 1:]]
for _ in range(2500):
    for a, b in pairs:
        dx, dy, dz = a[0] - b[0], a[1] - b[1], a[2] - b[2]
        mag = 0.001 * (dx * dx + dy * dy + dz * dz) ** -1.5
        a[3] -= dx * b[6] * mag
        a[4] -= dy * b[6] * mag
        a[5] -= dz * b[6] * mag
        b[3] += dx * a[6] * mag
        b[4] += dy * a[6] * mag
        b[5] += dz * a[6] * mag
    for b in bodies:
        b[0] += 0.001 * b[3]
        b[1] += 0.001 * b[4]
        b[2] += 0.001 * b[5]
print(f"{bodies[0][0]:.9f}")
