// An error that nobody catches.
print("before"); function level(n) { if (n == 0) { var u; return u.x; } return level(n - 1); }
level(3);
