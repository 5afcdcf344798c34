import argparse

import symchef


def test_argparse(name1: symchef.Str(3), name2: symchef.Str(3), arg1: symchef.Str(3), arg2: symchef.Str(3)):
    symchef.expect(SystemExit)
    symchef.expect(ValueError)
    parser = argparse.ArgumentParser()
    parser.add_argument(name1)
    parser.add_argument(name2)
    parser.parse_args([arg1, arg2])
