"""A chain of comparisons over 0..100, each leaning on the one before.

Exactly 6 classes of (outcome, output): five thresholds cut 0..100 into six
intervals, and each prints its own line.
"""

import symchef


def classify(x):
    if x < 10:
        return "tiny"
    if x < 25:
        return "small"
    if x < 50:
        return "medium"
    if x < 75:
        return "large"
    if x < 90:
        return "huge"
    return "enormous"


def test_tree_leaning(x: symchef.Int(0, 100)):
    print(classify(x))
