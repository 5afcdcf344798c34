import json
data = [{"id": i, "name": f"user {i}", "tags": ["a", "b\u00e9", str(i)], "score": i * 1.5, "ok": i % 2 == 0, "none": None} for i in range(600)]
n = 0
for _ in range(5):
    n += len(json.dumps(json.loads(json.dumps(data, indent=1)), sort_keys=True))
print(n)
