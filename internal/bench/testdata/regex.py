import re
text = "On 2024-02-29 alice@example.org wrote to bob.smith@mail.example.com about (a+b)*c; " * 500
n = 0
for _ in range(8):
    n += len(re.findall(r"[\w.]+@[\w.]+\w", text)) + len(re.sub(r"(\d{4})-(\d\d)-(\d\d)", r"\3.\2.\1", text)) + len(re.split(r"[;,\s]+", text))
print(n)
