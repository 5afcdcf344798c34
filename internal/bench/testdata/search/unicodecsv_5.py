import io

import symchef
import unicodecsv


def test_unicodecsv(b: symchef.Bytes(5)):
    symchef.expect(UnicodeDecodeError)
    symchef.expect(unicodecsv.Error)
    list(unicodecsv.reader(io.BytesIO(b)))
