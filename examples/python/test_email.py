"""An e-mail check that looks for '@' (the CHEF paper, figure 2).

Exactly 2 classes of (outcome, output): rejected, because '@' is absent or comes
before position 3 (find gives less than 3: exception InvalidEmailError, declared
expected); accepted otherwise. Nothing is printed. The interpreter's search makes one low-level path per
position; the class does not depend on which.
"""

import symchef


class InvalidEmailError(Exception):
    pass


def validate_email(email):
    at_sign_pos = email.find("@")
    if at_sign_pos < 3:
        raise InvalidEmailError()


def test_email(email: symchef.Str(10)):
    symchef.expect(InvalidEmailError)
    validate_email(email)
