// A syntax error: nothing runs.
print("never");
var x = ;
