"""chr of a range that meets its error and every width of str."""
import symchef


def test_chr_range(n: symchef.Int(-1, 6)):
    try:
        print(ascii(chr(n * 60 * 60 * 60)))
    except ValueError as e:
        print(e)
