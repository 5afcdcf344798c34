-- args: one two --three é
-- env: COLOUR=blue EMPTY=
print(#arg, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5], ...)
print(os.getenv("COLOUR"), os.getenv("EMPTY"), os.getenv("NOPE"), os.getenv("HOME"), _VERSION, type(_G), package.config:sub(1, 1))
io.stderr:write("to standard error\n") print(os.setlocale(), os.setlocale("C"), os.setlocale("xx_YY"))
os.exit(7)
