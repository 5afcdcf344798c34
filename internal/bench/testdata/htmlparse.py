from html.parser import HTMLParser

class Counter(HTMLParser):
    def __init__(self):
        super().__init__()
        self.n = 0
    def handle_starttag(self, tag, attrs):
        self.n += len(tag) + sum(len(v or "") for _, v in attrs)
    def handle_data(self, data):
        self.n += len(data)

page = '<div class="item" id=x1><a href="/p?q=1&amp;r=2">caf&eacute; &lt;3</a><br/><!-- c --><p>text &#x41; more</p></div>\n' * 120
n = 0
for _ in range(8):
    c = Counter()
    c.feed(page)
    n += c.n
print(n)
