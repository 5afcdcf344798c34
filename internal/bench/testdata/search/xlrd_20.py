import symchef
import xlrd


def test_xlrd(b: symchef.Bytes(20)):
    symchef.expect(xlrd.XLRDError)
    xlrd.open_workbook(file_contents=b)
