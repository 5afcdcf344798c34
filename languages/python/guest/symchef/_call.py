"""Calls the test. The test sees this frame, and may empty all that names are looked up in here: so there is nothing, and no name is
looked up once the test has been called."""

from sys import exc_info

from symchef._sealed import BUILTINS, stops

__builtins__ = dict(BUILTINS)


def call_test(parts, returned, failed, end):
    """Calls what parts has: the function, a list of arguments, a dict of them. Nothing of that is kept. Returns the status of the process."""
    function, arguments, keywords = parts
    del parts[:]
    parts = stops()
    try:
        value = function(*arguments, **keywords)
    except:  # all
        function = arguments = keywords = None
        for part in parts:
            try:
                [*part]
            except:  # all
                pass
        status = failed()
    else:
        function = arguments = keywords = None
        for part in parts:
            try:
                [*part]
            except:  # all
                pass
        status = returned(value)
        value = None
    return end(status)


def with_teardown(method, after, exc_info=exc_info):
    """The method, behind which all steps of after are taken, whatever happens; what is raised first counts."""

    def test(*arguments, **keywords):
        first = value = None
        try:
            value = method(*arguments, **keywords)
        except:  # all
            first = exc_info()[1]
        for step in after:
            try:
                step()
            except:  # all
                if first is None:
                    first = exc_info()[1]
        if first is None:
            return value
        try:
            raise first
        finally:
            first = None

    return test
