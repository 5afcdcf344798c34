-- string.pack and unpack.
local p = string.pack("<i4 >I2 z s1 d f b !8 i8 =j", -2, 65535, "zero", "counted", 1.5, -0.25, -1, 2^40 | 0, 7) print(#p, (p:gsub(".", function(c) return ("%02x"):format(c:byte()) end))) print(string.unpack("<i4 >I2 z s1 d f b !8 i8 =j", p))
print(string.packsize("i4i8!8d"), pcall(string.pack, "i1", 300), pcall(string.unpack, "i4", "abc"), string.unpack("<I3", "\1\2\3"), string.pack(">I16", 1):byte(-1), pcall(string.pack, "i17", 1), string.unpack("s2", "\3\0abc"))
for i = 1, 8 do io.write(string.unpack("<i" .. i, string.pack("<i" .. i, -i)), " ") end print(string.rep("ab", 3, ","))
