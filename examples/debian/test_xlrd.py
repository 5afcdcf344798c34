"""python3-xlrd 1.2.0: a workbook that ends too soon ends in a struct.error where the library promises XLRDError."""

import os

import symchef
import xlrd

WORKSHEET = b"\x09\x00\x04\x00\x00\x02\x10\x00"  # the first record of a file of Excel 2


def test_open(rest: symchef.Bytes(4, 0)):
    symchef.expect(xlrd.XLRDError)
    xlrd.open_workbook(file_contents=WORKSHEET + rest, logfile=open(os.devnull, "w"))
