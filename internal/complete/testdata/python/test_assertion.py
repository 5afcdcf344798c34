"""An AssertionError that few inputs reach."""
import symchef


def test_assertion(n: symchef.Int(-100, 100)):
    assert n * n - 3 * n != 88, "a root"
    print(n * n > 50)
