"""What is certain about time."""
import datetime, select, time
a, m, p = time.time(), time.monotonic(), time.perf_counter()
time.sleep(0.05)
b, n, q = time.time(), time.monotonic(), time.perf_counter()
print(b - a >= 0.049, n - m >= 0.05, q - p >= 0.05, b - a < 5, time.time_ns() > 0, a > 1.0e9, time.process_time() >= 0)
print(time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(0)), time.localtime(86400 * 365)[:6], time.mktime((2001, 9, 9, 1, 46, 40, 0, 0, 0)), time.tzname, time.timezone, time.asctime(time.gmtime(1e9)))
print(time.strptime("2024-W09-4", "%G-W%V-%u")[:3], datetime.datetime.fromtimestamp(1.5e9).isoformat(), datetime.timedelta(days=-1, hours=5), time.get_clock_info("monotonic").monotonic, time.clock_getres(time.CLOCK_MONOTONIC) < 1)
s = time.monotonic(); select.select([], [], [], 0.02); print(time.monotonic() - s >= 0.02)
prev = time.monotonic_ns()
for _ in range(200):
    now = time.monotonic_ns(); assert now >= prev; prev = now
print(datetime.datetime(2038, 1, 19, 3, 14, 8, tzinfo=datetime.timezone(datetime.timedelta(hours=5, minutes=30))).timestamp(), datetime.date.min, datetime.datetime.max)
