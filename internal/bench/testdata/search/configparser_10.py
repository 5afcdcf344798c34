import configparser

import symchef


def test_configparser(s: symchef.Str(10)):
    symchef.expect(configparser.Error)
    configparser.ConfigParser().read_string(s)
