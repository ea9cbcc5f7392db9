"""main.py FOLDER [constants|realmlp|tabm_case|series]... - the comparisons of scripts/referee.sh."""
import importlib
import sys

from dnn import Report

GROUPS = ["constants", "realmlp", "tabm_case", "series"]


def main(folder, groups):
    report = Report(1e-5)
    for group in groups or GROUPS:
        try:
            module = importlib.import_module(group)
        except ImportError as why:
            report.skip(group, why)
            continue
        module.all_cases(report, folder)
    print(f"{report.failed} different" if report.failed else "all the same, within 1e-5")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
