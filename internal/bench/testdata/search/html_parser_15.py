from html.parser import HTMLParser

import symchef


def test_html(s: symchef.Str(15)):
    parser = HTMLParser()
    parser.feed(s)
    parser.close()
