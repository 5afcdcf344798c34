"""argparse: help, subcommands, errors and their status."""
# args: --level 3 -vv --tag x --tag y run --fast one two
import argparse
import getopt
import sys

def parser():
    p = argparse.ArgumentParser(prog="tool", description="A tool with everything.", epilog="The end.")
    p.add_argument("--level", type=int, default=1, metavar="N", help="how deep (default: %(default)s)")
    p.add_argument("-v", action="count", default=0)
    p.add_argument("--tag", action="append", choices=["x", "y", "z"])
    g = p.add_mutually_exclusive_group(); g.add_argument("--on", action="store_true"); g.add_argument("--off", action="store_const", const=7)
    sub = p.add_subparsers(dest="command", required=True)
    r = sub.add_parser("run", help="runs"); r.add_argument("--fast", action="store_true"); r.add_argument("names", nargs="+")
    sub.add_parser("stop", aliases=["halt"])
    return p
print(sys.argv[1:], parser().parse_args())
parser().print_help()
for bad in (["--level", "x", "stop"], ["--tag", "q", "stop"], ["--on", "--off", "stop"], [], ["run"], ["nope"], ["--lev"]):
    try: parser().parse_args(bad)
    except SystemExit as e: print("status", e.code)
print(parser().parse_known_args(["--lev", "2", "halt", "--odd"]), getopt.getopt(["-a", "1", "--long=2", "rest"], "a:", ["long="]))
parser().parse_args(["--bogus", "stop"])
