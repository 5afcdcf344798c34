-- An interpreter in the interpreter: a compiler to closures.
local prog = "++++++++[>++++[>++>+++>+++>+<<<<-]>+>+>->>+[<]<-]>>.>---.+++++++..+++.>>.<-.<.+++.------.--------.>>+.>++."
local tape, p, out = {}, 0, {}
local function compile(i)
  local ops = {}
  while i <= #prog do
    local c = prog:sub(i, i)
    if c == ">" then ops[#ops + 1] = function() p = p + 1 end elseif c == "<" then ops[#ops + 1] = function() p = p - 1 end
    elseif c == "+" then ops[#ops + 1] = function() tape[p] = ((tape[p] or 0) + 1) % 256 end elseif c == "-" then ops[#ops + 1] = function() tape[p] = ((tape[p] or 0) - 1) % 256 end
    elseif c == "." then ops[#ops + 1] = function() out[#out + 1] = string.char(tape[p] or 0) end
    elseif c == "[" then local body body, i = compile(i + 1) ops[#ops + 1] = function() while (tape[p] or 0) ~= 0 do for k = 1, #body do body[k]() end end end
    elseif c == "]" then return ops, i end
    i = i + 1
  end
  return ops, i
end
for _, op in ipairs((compile(1))) do op() end io.write(table.concat(out)) for i = 0, 5 do io.write(tape[i] or "nil", " ") end print(p)
