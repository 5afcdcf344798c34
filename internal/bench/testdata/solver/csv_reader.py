import csv

import symchef


def test_csv(s: symchef.Str(6)):
    symchef.expect(csv.Error)
    list(csv.reader([s], strict=True))
