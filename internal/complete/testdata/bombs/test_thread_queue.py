"""the value goes to another thread and back"""
import queue
import threading
import symchef


def test_thread_queue(n: symchef.Int(0, 1000)):
    there, back = queue.SimpleQueue(), queue.SimpleQueue()
    t = threading.Thread(target=lambda: back.put(there.get() * 2 + 1))
    t.start()
    there.put(n)
    t.join()
    assert back.get() != 1235
