local bodies = {}
for i = 1, 5 do
  bodies[i] = {x = i * 1.7, y = i * i * 0.3, z = i % 3, vx = 0.01 * i, vy = -0.02 * i, vz = 0.005, m = 1 / i}
end
local function step(dt)
  for i = 1, #bodies do
    local a = bodies[i]
    for j = i + 1, #bodies do
      local b = bodies[j]
      local dx, dy, dz = a.x - b.x, a.y - b.y, a.z - b.z
      local d2 = dx * dx + dy * dy + dz * dz
      local mag = dt / (d2 * math.sqrt(d2))
      a.vx, a.vy, a.vz = a.vx - dx * b.m * mag, a.vy - dy * b.m * mag, a.vz - dz * b.m * mag
      b.vx, b.vy, b.vz = b.vx + dx * a.m * mag, b.vy + dy * a.m * mag, b.vz + dz * a.m * mag
    end
  end
  for _, b in ipairs(bodies) do
    b.x, b.y, b.z = b.x + dt * b.vx, b.y + dt * b.vy, b.z + dt * b.vz
  end
end
for _ = 1, 15000 do step(0.001) end
print(string.format("%.9f", bodies[1].x))
