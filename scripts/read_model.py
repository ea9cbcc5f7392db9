#!/usr/bin/env python3
"""read_model.py MODEL DATA.csv - answers the rows of DATA.csv with a dnn model of format 3.

A second reader of the format, with numpy alone: `dnn help model-file` describes the format, and this
program shows it. It prints the lines of `dnn predict` without ids: `prediction`, then for
classification `probability_<label>`, and where the model has them `low`, `high` or `set`; a line for each row, or for each window or group of rows.
Answers agree with `dnn predict` within 1e-5, or 1e-4 where narrow bins follow the quantile scale.
"""
import bisect
import calendar
import csv
import io
import itertools
import json
import math
import re
import statistics
import struct
import sys
import unicodedata
from datetime import datetime, timezone

try:
    import numpy as np
except ImportError:
    sys.exit("read_model.py needs numpy (python3-numpy)")

DTYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "U8": "u1"}


# --- the file: a safetensors file -----------------------------------------------------------------

def read_file(path):
    """The metadata, and the tensors by name."""
    with open(path, "rb") as f:
        data = f.read()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    meta = header.pop("__metadata__")
    tensors = {}
    for name, t in header.items():
        begin, end = (8 + length + at for at in t["data_offsets"])
        tensors[name] = np.frombuffer(data[begin:end], DTYPES[t["dtype"]]).reshape(t["shape"])
    return meta, tensors


def texts(tensors, name):
    """Texts are stored as bytes and offsets."""
    data, at = tensors[name].tobytes(), tensors[name + ".offsets"]
    return [data[at[i]:at[i + 1]].decode() for i in range(len(at) - 1)]


class Model:
    """A model as one of its members sees it: columns, encoder, layers."""

    def __init__(self, path):
        self.meta, t = read_file(path)
        if self.meta["kind"] != "model" or self.meta["format"] != "3":
            raise SystemExit(f"{path}: not a model of format 3")
        self.tensors = t
        self.head = json.loads(t["schema"].tobytes())
        self.names = texts(t, "schema.names")
        self.types = [self.head["types"][i] for i in t["schema.types"]]
        everywhere = set(texts(t, "schema.missing"))
        own = {entry["column"]: entry["texts"] for entry in self.head.get("missing", [])}
        self.missing = [everywhere | set(own.get(c, [])) for c in range(len(self.names))]
        self.labels = texts(t, "schema.labels")
        self.threshold = float(t.get("threshold", [0.5])[0])
        self.decision = t.get("decision", np.zeros(len(self.labels)))
        self.weights = t.get("ensemble.weights", np.ones(1))
        self.encoders = t.get("ensemble.encoders", np.zeros(len(self.weights), int))

    def choose(self, member):
        self.member = member
        self.layers = json.loads(self.tensors[f"members.{member}.layers"].tobytes())
        prefix = f"encoders.{self.encoders[member]}.values"
        values, first = texts(self.tensors, prefix), self.tensors[prefix + ".first"]
        self.values = [{v: i for i, v in enumerate(values[first[c]:first[c + 1]])}
                       for c in range(len(self.names))]

    def word(self, name, column):
        """The word of a column's code, of tensor encoders.E.NAME."""
        return self.head[name + "s"][self.encoder(name)[column]]

    def encoder(self, name):
        return self.tensors[f"encoders.{self.encoders[self.member]}.{name}"]

    def has(self, name):
        return f"encoders.{self.encoders[self.member]}.{name}" in self.tensors

    def param(self, path, name):
        value = self.tensors[f"members.{self.member}.layers.{path}.{name}"].astype(np.float64)
        if (path, name) != ("0", "weight"):
            return value
        apart = [w for w in (self.bin_weight(), self.text_weight() if self.adds_texts() else ()) if len(w)]
        return np.concatenate([value] + apart)

    def bin_weight(self):
        """The rows of the first layer's weight for the bins of numbers, where they are apart."""
        return self.tensors.get(f"members.{self.member}.ple.weight", ())


    def text_weight(self):
        """A row for each bucket of the texts."""
        return self.tensors.get(f"members.{self.member}.text.weight", ())

    def adds_texts(self):
        """The first layer reads the terms of texts itself."""
        return self.layers[0]["type"] == "dense"


# --- cells to numbers and categories ----------------------------------------------------------------

DATE = re.compile(r"(\d{4})(?:([-/])(\d\d)(?:\2(\d\d))?|(\d\d)(\d\d))(?:[Tt ](.+))?$")
TIME = re.compile(r"(\d\d?):(\d\d)(?::(\d\d(?:[.,]\d+)?))?(Z|z| UTC| ?[+-]\d\d(?::?\d\d)?)?$")


def seconds_of_time(text):
    hour, minute, second, zone = TIME.match(text).groups()
    seconds = int(hour) * 3600 + int(minute) * 60 + float((second or "0").replace(",", "."))
    zone = (zone or "").strip()
    if zone not in ("", "Z", "z", "UTC"):
        digits = zone[1:].replace(":", "") + "00"
        offset = int(digits[:2]) * 3600 + int(digits[2:4]) * 60
        seconds -= offset if zone[0] == "+" else -offset
    return seconds


def day_number(year, month, day):
    """Days since 1970-01-01."""
    y, m = (year, month - 3) if month > 2 else (year - 1, month + 9)
    return y * 365 + y // 4 - y // 100 + y // 400 + (153 * m + 2) // 5 + day - 1 - 719468


NAMES = [name.lower() for name in (*calendar.month_name, *calendar.day_name)]


def seconds_of_format(text, form):
    """Seconds since 1970 of a date in another form; what the format lacks is that of 1970-01-01."""
    if form in ("%s", "%Q", "%q", "%N"):
        return float(text) / {"%s": 1, "%Q": 1e3, "%q": 1e6, "%N": 1e9}[form]
    fraction = 0.0
    if form.endswith("%S") and re.search("[.,][0-9]+$", text):
        at = re.search("[.,][0-9]+$", text).start()
        text, fraction = text[:at], float("0." + text[at + 1:])
    text = re.sub(r"[A-Za-z]{4,}", lambda m: m[0][:3] if m[0].lower() in NAMES else m[0], text)
    form = form.replace("%B", "%b").replace("%A", "%a")
    year = "" if re.search("%[Yy]", form) else "1970 "
    moment = datetime.strptime(year + text, ("%Y " if year else "") + form)
    return (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp() + fraction


SPANS = [("w|wks?|weeks?", 604800.0), ("d|days?|tage?", 86400.0), ("h|hrs?|hours?|std", 3600.0),
         ("m|mins?|minutes?", 60.0), ("s|secs?|seconds?|sek", 1.0), ("ms", 1e-3), ("[uµμ]s", 1e-6),
         ("ns", 1e-9)]


def seconds_of_duration(text):
    """csv/form/duration.h has the forms."""
    text = re.sub(r"(\d),(\d)", r"\1.\2", text.strip())
    sign, words, own, hour, minute, second = re.match(
        r"([+-]?)(.*?)(?:([+-]?)(\d+):(\d\d)(?::(\d\d(?:\.\d+)?))?)?$", text).groups()
    clock = int(hour) * 3600 + int(minute) * 60 + float(second or 0) if hour else 0.0
    whole = not words
    if words.endswith(".") and words[:-1].isdigit():
        words, whole = words[:-1] + "d", True
    if words.startswith("P"):
        words = words[1:].replace("T", " ")
    total = last = 0.0
    for number, word in re.findall(r"(\d+(?:\.\d+)?)\s*([^\W\d_]*)", words):
        below = {3600.0: 60.0, 60.0: 1.0}.get(last, 0.0)
        last = next((v for p, v in SPANS if re.fullmatch(p, word.lower())), below)
        total += float(number) * last
    total *= -1 if sign == "-" else 1
    return total + (-clock if (sign if whole else own) == "-" else clock)


def number_of(text, decimal, form):
    """A number without its units and what groups its digits."""
    if form.get("format") == "duration":
        return seconds_of_duration(text)
    for unit in sorted(form.get("unit", []), key=len, reverse=True):
        text = text.replace(unit, "", 1)
    text = re.sub(r"\s", "", text).replace(form.get("thousands") or "\0", "")
    return float(text.replace(decimal, "."))


def date_numbers(text, form=None):
    """The 7 numbers of a datetime: seconds since 1970, then sine and cosine of the time of day, of
    the day of the week from Monday, of the day of the year."""
    date = None if form else DATE.match(text)
    if form:
        seconds = seconds_of_format(text, form)
    elif date:
        month, day = int(date[3] or date[5]), int(date[4] or date[6] or 1)
        seconds = day_number(int(date[1]), month, day) * 86400.0
        seconds += seconds_of_time(date[7]) if date[7] else 0
    else:
        seconds = seconds_of_time(text.lstrip("Tt"))
    days = math.floor(seconds / 86400)
    turns = [(seconds - days * 86400) / 86400, (days + 3) % 7 / 7]
    year = next(y for y in range(int(1970 + days / 365.2425) + 1, 0, -1)
                if day_number(y, 1, 1) <= days)
    start, end = day_number(year, 1, 1), day_number(year + 1, 1, 1)
    turns.append((days - start) / (end - start))
    return [seconds] + [f(2 * math.pi * turn) for turn in turns for f in (math.sin, math.cos)]


def read_cells(model, rows):
    """rows: dicts by column name. Numbers [rows][numbers], NaN where missing, and categories
    [rows][columns]: 0 missing, 1 unknown, 2.. the values."""
    numbers, categories = [], np.zeros((len(rows), len(model.names)), int)
    forms = {form["column"]: form for form in model.head.get("forms", [])}
    for r, row in enumerate(rows):
        line = []
        for c, (name, kind) in enumerate(zip(model.names, model.types)):
            cell = row.get(name)
            missing = cell is None or cell in model.missing[c]
            if kind == "numeric":
                line.append(math.nan if missing
                            else number_of(cell, model.head["decimal"], forms.get(c, {})))
            elif kind == "datetime":
                line += [math.nan] * 7 if missing else date_numbers(
                    cell, forms.get(c, {}).get("format"))
            elif kind == "categorical" and not missing:
                unknown = 1 if model.word("unknown", c) == "bucket" else 0
                categories[r, c] = model.values[c].get(cell, unknown - 2) + 2
        numbers.append(line)
    return np.array(numbers, np.float64).reshape(len(rows), -1), categories


# --- texts ---------------------------------------------------------------------------------------

WORD = 2 ** 64 - 1


def fold(a, b):
    product = (a & WORD) * (b & WORD)
    return (product & WORD) ^ (product >> 64)


def hash_of(data, seed):
    """rng_hash of src/base/rng.c."""
    a, b, c = 0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F
    h = fold(seed ^ a, b + len(data))
    for at in range(0, len(data), 8):
        word = int.from_bytes(data[at:at + 8], "little")
        mixed = fold(word ^ h ^ (c if at + 8 <= len(data) else a), b if at + 8 <= len(data) else c)
        h = (mixed + ((h << 1 | h >> 63) & WORD)) & WORD
    return fold(h ^ b, h ^ a ^ (len(data) << 32))


SYLLABLES = [  # scripts without blanks between words (src/table/schema/words.c)
    (0xe01, 0xedf), (0x1000, 0x109f), (0x1780, 0x17ff), (0x2e80, 0x2fdf), (0x3005, 0x312f),
    (0x31a0, 0x9fff), (0xa9e0, 0xa9ff), (0xaa60, 0xaa7f), (0xf900, 0xfaff), (0xff66, 0xff9f),
    (0x1aff0, 0x1b16f), (0x20000, 0x3ffff)]


def class_of(char):
    """What a character does in a text (src/base/unicode.h, src/table/schema/words.h)."""
    c, kind = ord(char), unicodedata.category(char)
    if 0xfe00 <= c <= 0xfe0f or 0xe0100 <= c <= 0xe01ef:
        return "nothing"
    if c == 0x200b or kind[0] == "Z" or kind == "Cc":
        return "blank"
    if kind[0] in "LN":
        return "syllable" if any(first <= c <= last for first, last in SYLLABLES) else "letter"
    if kind[0] == "M":
        return "mark"
    if kind[0] == "P" or kind == "Sk" or kind[0] == "S" and c < 128:
        return "point"
    return "nothing" if kind == "Cf" else "sign"


def words_of(text, points):
    """(class, begin, end, folded word) of each; points: punctuation is a word too."""
    words, inside = [], False
    for i, char in enumerate(text):
        kind = class_of(char)
        if inside and (kind in ("mark", "nothing") or kind == words[-1][0] == "letter"):
            words[-1][2] = i + 1
            continue
        inside = kind in ("letter", "syllable", "sign") or points and kind == "point"
        if inside:
            words.append([kind, i, i + 1])
    for word in words:
        kept = "".join(c for c in text[word[1]:word[2]] if class_of(c) != "nothing")
        word.append(unicodedata.normalize("NFC", kept.casefold()))
    return words


def joined_words(text, rule):
    """The words in " word word ", as bytes, and the place of each."""
    joined, starts, behind = b"", [], None
    if rule == "unicode":
        for kind, begin, end, word in words_of(text, False):
            joined += b"" if behind == begin and kind != "letter" else b" "
            starts.append(len(joined))
            joined += word.encode()
            behind = end if kind != "letter" else None
    else:
        for word in re.findall(rb"[0-9a-z\x80-\xff]+", text.encode().lower()):
            starts.append(len(joined) + 1)
            joined += b" " + word
    return joined + b" " if starts else b"", starts


def terms_of(text, options, rule):
    """Bucket to signed count, in the order in which buckets come (src/table/schema/terms.h)."""
    buckets, word_low, word_high, char_low, char_high, _, most = (int(v) for v in options)
    joined, words = joined_words(text, rule)
    starts = [m.start() for m in re.finditer(rb"[\x00-\x7f\xc0-\xff]", joined, re.S)] + [len(joined)]
    words.append(len(joined))
    runs = [(joined[words[i]:words[i + n]].removesuffix(b" "), 0) for i in range(len(words) - 1)
            for n in range(word_low, word_high + 1) if word_low and i + n < len(words)]
    runs += [(joined[starts[i]:starts[i + n]], 1) for i in range(len(starts) - 1)
             for n in range(char_low, char_high + 1) if char_low and i + n < len(starts)]
    counts = {}
    for data, kind in runs:
        h = hash_of(data, kind)
        bucket = (h >> 1) % buckets
        if bucket in counts or len(counts) < most:
            counts[bucket] = max(-511, min(511, counts.get(bucket, 0) + (-1 if h & 1 else 1)))
    return counts


def text_values(model, rows):
    """A column for each bucket of all texts, and one a text: 1 where it has no term."""
    if not model.has("texts"):
        return [], []
    values, empty, weights = [], [], model.encoder("texts.weights")
    columns = [c for c, kind in enumerate(model.types) if kind == "text"]
    rule = model.head.get("words", "bytes")
    for c, options in zip(columns, model.encoder("texts").reshape(-1, 7)):
        v, v_empty = np.zeros((len(rows), int(options[0]))), np.zeros((len(rows), 1))
        for r, row in enumerate(rows):
            cell = row.get(model.names[c])
            cell = "" if cell is None or cell in model.missing[c] else cell
            for bucket, count in terms_of(cell, options, rule).items():
                v[r, bucket] = count
            v_empty[r] = not joined_words(cell, rule)[1]
        empty.append(v_empty)
        if options[5] == 0:
            v = v * weights[:len(v[0])].astype(np.float64)
            weights = weights[len(v[0]):]
            v /= np.maximum(np.sqrt((v ** 2).sum(1, keepdims=True)), 1e-300)
        values.append(v)
    return values, empty


# --- scales -----------------------------------------------------------------------------------------

def normal_quantile(rank):
    """Of the normal distribution; far tails end at 5.2."""
    if rank <= 1e-8 or rank >= 1 - 1e-8:
        return -5.2 if rank < 0.5 else 5.2
    return max(-5.2, min(5.2, statistics.NormalDist().inv_cdf(rank)))


def rank_of(v, knots):
    """Where v stands among ascending knots, 0 to 1; in the middle of those that equal it."""
    last = max(len(knots) - 1, 1)
    below, end = np.searchsorted(knots, v, "left"), np.searchsorted(knots, v, "right")
    if end > below:
        return 0.5 if len(knots) == 1 else (below + end - 1) / 2 / last
    if below == 0 or below == len(knots):
        return 0.0 if below == 0 else 1.0
    low, high = float(knots[below - 1]), float(knots[below])
    return (below - 1 + (float(v) - low) / (high - low)) / last


def scale(model, numbers):
    """Stored numbers to what the network sees, and 1 for each that was missing."""
    was_missing = np.isnan(numbers).astype(np.float64)
    out = np.empty_like(numbers)
    at = model.encoder("quantiles.offsets")
    for i in range(numbers.shape[1]):
        get = lambda name: float(model.encoder(name)[i])
        v = (numbers[:, i] - get("offset")).astype(np.float32)
        if model.has("transform") and model.word("transform", i) == "log1p":
            whole = v.astype(np.float64) + get("offset")
            v = (np.sign(whole) * np.log1p(np.abs(whole))).astype(np.float32)
        v[np.isnan(v)] = np.float32(get("fill"))
        kind = model.word("scale", i)
        if kind == "none":
            out[:, i] = v.astype(np.float64) - get("center")
            continue
        if kind == "quantile":
            knots = model.encoder("quantiles")[at[i]:at[i + 1]]
            x = np.array([normal_quantile(rank_of(a, knots)) for a in v], np.float64)
        else:
            x = (v.astype(np.float64) - get("center")) * get("factor")
        x = np.clip(x, get("least"), get("most"))
        out[:, i] = x / np.sqrt(1 + (x / 3) ** 2) if kind == "clip" else x
    return out, was_missing


def piecewise(model, x, was_missing):
    """A column for each bin of the numbers that have edges. Bins may be narrow: x is rounded to
    float32, as in a record, before it is compared with edges."""
    if not model.has("bins"):
        return []
    columns, first = [], model.encoder("bins.offsets")
    for i in range(x.shape[1]):
        edges = model.encoder("bins")[first[i]:first[i + 1]].astype(np.float64)
        share = np.clip((x[:, i:i + 1].astype(np.float32) - edges[:-1]) / (edges[1:] - edges[:-1]), 0, 1)
        if model.encoder("indicator")[i]:
            share = share * (1 - was_missing[:, i:i + 1])
        columns.append(share)
        if len(edges) and not model.encoder("plain")[i]:
            x[:, i] = 0
    return columns


def periodic(model, x):
    """Three columns for each periodic number: sums of 16 cosines."""
    columns = []
    if model.has("periodic"):
        get = lambda name: model.tensors[f"members.{model.member}.periodic.{name}"].astype(float)
        frequency, phase, weight, bias = map(get, ("frequency", "phase", "weight", "bias"))
        for k, i in enumerate(np.flatnonzero(model.encoder("periodic"))):
            waves = np.cos(2 * math.pi * x[:, i:i + 1] * frequency[k] + phase[k])
            columns.append(waves @ weight[k] + bias[k])
    return columns


def target_statistics(model, numbers, categories):
    """The numbers of each row's keys, in every table; 0 for a key that is not there."""
    if not model.has("statistics.keys"):
        return []
    get = lambda name: model.encoder("statistics." + name)
    first_number = np.cumsum([0] + [{"numeric": 1, "datetime": 7}.get(k, 0) for k in model.types])
    ids = []
    for k, column in enumerate(get("keys")):
        if model.types[column] == "categorical":
            ids.append(categories[:, column])
            continue
        i = first_number[column]
        v = (numbers[:, i] - float(model.encoder("offset")[i])).astype(np.float32)
        values = get("values")[get("values.offsets")[k]:get("values.offsets")[k + 1]]
        known = {float(a): n + 2 for n, a in enumerate(values)}
        ids.append(np.array([0 if np.isnan(a) else known.get(float(a), 1) for a in v]))
    columns, entry = [], 0
    for t, (a, b) in enumerate(get("tables")):
        width = int(get("means")[t]) + int(get("counted")[t])
        codes = get("codes")[get("codes.offsets")[t]:get("codes.offsets")[t + 1]]
        values = get("entries")[entry:entry + len(codes) * width].reshape(-1, width)
        entry += len(codes) * width
        places = {tuple(code): i for i, code in enumerate(codes.tolist())}
        pairs = zip(ids[a], ids[b] if b >= 0 else np.zeros(len(numbers), int))
        found = [places.get((int(x), int(y))) for x, y in pairs]
        columns.append([np.zeros(width) if p is None else values[p] for p in found])
    x = np.concatenate(columns, axis=1).astype(np.float64)
    return [(x - get("center")) * get("factor")]


def steps_of(model, x, was_missing):
    """Sequences [rows][steps][channels]. A row's length is that of its last step with a value."""
    steps = model.head["steps"]
    there = (was_missing.reshape(len(x), -1, steps) == 0).any(1)
    model.lengths = np.where(there.any(1), steps - there[:, ::-1].argmax(1), 0)
    return x.reshape(len(x), -1, steps).transpose(0, 2, 1)


RANGES = [
    (0x80, 0xa0, "blank"), (0xa1, 0xa9, "alone"), (0xab, 0xac, "alone"), (0xad, 0xad, "blank"),
    (0xae, 0xb1, "alone"), (0xb4, 0xb4, "alone"), (0xb6, 0xb8, "alone"), (0xbb, 0xbb, "alone"),
    (0xbf, 0xbf, "alone"), (0xd7, 0xd7, "alone"), (0xf7, 0xf7, "alone"), (0x37e, 0x37e, "alone"),
    (0x387, 0x387, "alone"), (0x589, 0x58a, "alone"), (0x5be, 0x5be, "alone"), (0x60c, 0x60d, "alone"),
    (0x61b, 0x61f, "alone"), (0x66a, 0x66d, "alone"), (0x6d4, 0x6d4, "alone"), (0x964, 0x965, "alone"),
    (0xe01, 0xedf, "alone"), (0x1000, 0x109f, "alone"), (0x1680, 0x1680, "blank"), (0x1780, 0x17ff, "alone"),
    (0x2000, 0x200f, "blank"), (0x2010, 0x2027, "alone"), (0x2028, 0x202f, "blank"), (0x2030, 0x205e, "alone"),
    (0x205f, 0x206f, "blank"), (0x207a, 0x207e, "alone"), (0x208a, 0x208e, "alone"), (0x20a0, 0x20cf, "alone"),
    (0x2190, 0x2bff, "alone"), (0x2e00, 0x2fff, "alone"), (0x3000, 0x3000, "blank"), (0x3001, 0x312f, "alone"),
    (0x31a0, 0x9fff, "alone"), (0xf900, 0xfaff, "alone"), (0xfe00, 0xfe0f, "blank"), (0xfe10, 0xfe1f, "alone"),
    (0xfe30, 0xfe6f, "alone"), (0xfeff, 0xfeff, "blank"), (0xff01, 0xff0f, "alone"), (0xff1a, 0xff20, "alone"),
    (0xff3b, 0xff40, "alone"), (0xff5b, 0xff9f, "alone"), (0xffe0, 0xffff, "alone"), (0x1f000, 0x1faff, "alone"),
    (0x20000, 0x3ffff, "alone")]


def kind_of(c):
    """letter, blank or alone, as the ranges of src/table/schema/tokens.c say."""
    if c < 128:
        return "blank" if c <= 32 or c == 127 else "letter" if chr(c).isalnum() else "alone"
    at = bisect.bisect_left([r[1] for r in RANGES], c)
    return RANGES[at][2] if at < len(RANGES) and RANGES[at][0] <= c else "letter"


def lower(c):
    if 65 <= c <= 90 or 0xc0 <= c <= 0xde and c != 0xd7 or 0x391 <= c <= 0x3a9 or 0x410 <= c <= 0x42f:
        return c + 32
    if 0x400 <= c <= 0x40f:
        return c + 80
    if 0x100 <= c <= 0x137 and c != 0x130 or 0x14a <= c <= 0x177:
        return c | 1
    return c + (c & 1) if 0x139 <= c <= 0x148 or 0x179 <= c <= 0x17e else c


def tokens_of(text, rule):
    """Words without case, and each other character that is no blank (src/table/schema/tokens.h)."""
    if rule == "unicode":
        return [word[3] for word in words_of(text, True)]
    tokens, inside = [], False
    for c in map(ord, text):
        kind = kind_of(c)
        if kind == "letter" and inside:
            tokens[-1] += chr(lower(c))
        elif kind != "blank":
            tokens.append(chr(lower(c)))
        inside = kind == "letter"
    return tokens


def token_steps(model, rows):
    """[rows][steps][dim]: the learned row of each token; row 1 for a token that is unknown."""
    c = model.types.index("text")
    rule = model.head.get("words", "bytes")
    most, dim = int(model.encoder("texts")[6]), int(model.encoder("dim")[c])
    ids = np.zeros((len(rows), most), int)
    for r, row in enumerate(rows):
        cell = row.get(model.names[c])
        cell = "" if cell is None or cell in model.missing[c] else cell
        for t, token in enumerate(tokens_of(cell, rule)[:most]):
            ids[r, t] = model.values[c].get(token, -1) + 2
    model.lengths = (ids > 0).sum(1)
    return model.tensors[f"members.{model.member}.embeddings"].reshape(-1, dim)[ids].astype(np.float64)


def first_stage(model, rows, numbers, categories):
    """x: numbers, target statistics, "was missing" of some, rows of embedding tables, "has no term" of texts, one-hot
    columns. Columns of bins come before the texts, or last where the first layer has their weights among its own (ple.weight
    continues that layer's weight); values of texts come behind them, or their sums of text.weight before the one-hot columns."""
    if model.has("texts") and model.encoder("texts")[5] == 2:
        return token_steps(model, rows)
    x, was_missing = scale(model, numbers)
    if "steps" in model.head:
        return steps_of(model, x, was_missing)
    of_keys = target_statistics(model, numbers, categories)
    bins = piecewise(model, x, was_missing)
    waves = periodic(model, x)
    embedded, onehot, at = [], [], 0
    for c, kind in enumerate(model.types):
        if kind != "categorical" or model.word("encode", c) in ("target", "count"):
            continue
        count = 2 + len(model.values[c])
        if model.word("encode", c) == "embedding":
            dim = int(model.encoder("dim")[c])
            table = model.tensors[f"members.{model.member}.embeddings"][at:at + count * dim]
            embedded.append(table.reshape(count, dim)[categories[:, c]])
            at += count * dim
        else:
            onehot.append(np.eye(count)[categories[:, c]])
    indicators = was_missing[:, model.encoder("indicator").astype(bool)]
    values, empty = text_values(model, rows)
    if values and not model.adds_texts():
        empty.append(np.concatenate(values, axis=1) @ model.text_weight().astype(np.float64))
        values = []
    apart = len(model.bin_weight()) > 0
    blocks = embedded + ([] if apart else bins) + waves + empty + onehot + (bins if apart else []) + values
    return np.concatenate([x] + of_keys + [indicators] + blocks, axis=1)


# --- layers -----------------------------------------------------------------------------------------

def softplus(x):
    return np.logaddexp(0, x)


ACTIVATIONS = {
    "relu": lambda x, o: np.maximum(x, 0),
    "leaky_relu": lambda x, o: np.where(x > 0, x, o["slope"] * x),
    "gelu": lambda x, o: x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2,
    "silu": lambda x, o: x * np.exp(-softplus(-x)),
    "elu": lambda x, o: np.where(x > 0, x, o["alpha"] * np.expm1(np.minimum(x, 0))),
    "selu": lambda x, o: 1.0507009873554805 * np.where(
        x > 0, x, 1.6732632423543772 * np.expm1(np.minimum(x, 0))),
    "tanh": lambda x, o: np.tanh(x),
    "sigmoid": lambda x, o: np.exp(-softplus(-x)),
    "mish": lambda x, o: x * np.tanh(softplus(x)),
    "dropout": lambda x, o: x,
}


def embed_numbers(model, at, x):
    """Columns without bins, then for each number with bins x scale + shift + its components times
    its rows of ple.weight. The components are the last columns of x."""
    w = model.bin_weight()
    if not len(w):
        return x
    bins = np.diff(model.encoder("bins.offsets")) - 1
    numbers = np.flatnonzero(bins > 0)
    x, components = x[:, :-len(w)], x[:, -len(w):]
    blocks, first = [np.delete(x, numbers, axis=1)], 0
    for i, number in enumerate(numbers):
        one = x[:, number:number + 1] * model.param(at, "scale")[i] + model.param(at, "shift")[i]
        end = first + bins[number]
        blocks.append(one + components[:, first:end] @ w[first:end].astype(np.float64))
        first = end
    return np.concatenate(blocks, axis=1)


def logistic(x):
    return np.exp(-softplus(-x))


def recurrent(model, at, name, x, units, gru):
    """One direction of lstm or gru over the steps of x; 0 behind a sequence's end."""
    get = lambda part: model.param(at, name + part)
    order = range(x.shape[1] - 1, -1, -1) if name else range(x.shape[1])
    sums, y = x @ get("weight") + get("bias"), np.zeros(x.shape[:2] + (units,))
    h = np.zeros((len(x), units))
    c = h
    for t in order:
        there = (t < model.lengths)[:, None]
        if gru:
            n, r, z = np.split(sums[:, t], 3, axis=1)
            to_r, to_z, q = np.split(h @ get("recurrent") + get("recurrent_bias"), 3, axis=1)
            n = np.tanh(n + logistic(r + to_r) * q)
            h = n + logistic(z + to_z) * (h - n)
        else:
            i, f, g, o = np.split(sums[:, t] + h @ get("recurrent"), 4, axis=1)
            c = np.where(there, logistic(f) * c + logistic(i) * np.tanh(g), 0)
            h = logistic(o) * np.tanh(c)
        h = np.where(there, h, 0)
        y[:, t] = h
    return y


def pool(model, at, kind, x):
    length = model.lengths
    if kind == "attention":
        score = np.where(np.arange(x.shape[1]) < length[:, None], (x @ model.param(at, "weight"))[:, :, 0], -np.inf)
        share = np.exp(score - np.where(length > 0, score.max(1), 0)[:, None])
        return np.einsum("rt,rtc->rc", share / np.maximum(share.sum(1), 1e-30)[:, None], x)
    if kind == "cls":
        return np.where(length[:, None] > 0, x[:, 0], 0)
    inside = (np.arange(x.shape[1]) < length[:, None])[:, :, None]
    if kind == "mean":
        return np.where(inside, x, 0).sum(1) / np.maximum(length, 1)[:, None]
    if kind == "max":
        return np.where(length[:, None] > 0, np.where(inside, x, -np.inf).max(1), 0)
    last = x[np.arange(len(x)), np.maximum(length, 1) - 1]
    return np.where(length[:, None] > 0, last, 0)


def conv1d(model, at, layer, x):
    """Padding counts as 0; a tap is a shift of all steps."""
    kernel, dilation, stride = layer["kernel"], layer["dilation"], layer["stride"]
    reach = (kernel - 1) * dilation
    before = reach if layer["causal"] else reach // 2
    inside = (np.arange(x.shape[1]) < model.lengths[:, None])[:, :, None]
    x, steps = np.pad(np.where(inside, x, 0), [(0, 0), (before, reach), (0, 0)]), x.shape[1]
    w, y = model.param(at, "weight"), model.param(at, "bias")
    for k in range(kernel):
        y = y + x[:, k * dilation:k * dilation + steps:stride] @ w[k]
    model.lengths = -(-model.lengths // stride)
    return np.where((np.arange(y.shape[1]) < model.lengths[:, None])[:, :, None], y, 0)


def rocket(model, at, layer, x):
    """The share of steps at which each kernel is above each of its thresholds."""
    steps, channels, thresholds = x.shape[1], model.param(at, "channels"), model.param(at, "thresholds")
    most, dilations = math.log2((steps - 1) / 8) if steps > 9 else 0, []
    for i in range(32):
        d = int(2 ** (most * i / 31))
        if d not in dilations:
            dilations.append(d)
    thresholds = thresholds.reshape(len(dilations), 84, -1)
    threes, y = list(itertools.combinations(range(9), 3)), []
    for row, length in zip(x, model.lengths):
        for i, d in enumerate(dilations):
            for k, three in enumerate(threes):
                chosen = [int(c) for c in channels[i * 84 + k] if c >= 0]
                one = np.pad(row[:length, chosen].sum(1), 4 * d)
                taps = [one[j * d:j * d + length] for j in range(9)]
                out = 3 * sum(taps[j] for j in three) - sum(taps)
                if (k + d) % 2 and length > 8 * d:
                    out = out[4 * d:length - 4 * d]
                y.append([(out > t).mean() if length else 0 for t in thresholds[i, k]])
    return np.array(y).reshape(len(x), -1)


def sines(steps, width):
    """Sinusoidal positions: sines in even columns, cosines in odd ones."""
    angle = np.arange(steps)[:, None] / 10000 ** (np.arange(width) // 2 * 2 / width)
    return np.where(np.arange(width) % 2, np.cos(angle), np.sin(angle))


def attention(model, at, layer, x):
    """Several heads; padding is not looked at."""
    (rows, steps, width), heads = x.shape, layer["heads"]
    qkv = x @ model.param(at, "weight") + model.param(at, "bias")
    q, k, v = qkv.reshape(rows, steps, 3, heads, -1).transpose(2, 0, 3, 1, 4)
    if layer["rotary"]:
        half = width // heads // 2
        angle = np.arange(steps)[:, None] / 10000 ** (np.arange(half) / half)
        turn = lambda a: np.concatenate([a[..., :half] * np.cos(angle) - a[..., half:] * np.sin(angle),
                                         a[..., half:] * np.cos(angle) + a[..., :half] * np.sin(angle)], axis=-1)
        q, k = turn(q), turn(k)
    seen = np.broadcast_to((np.arange(steps) < np.maximum(model.lengths, 1)[:, None])[:, None, None, :],
                           (rows, 1, steps, steps))
    if layer["causal"]:
        seen = seen & np.tri(steps, dtype=bool)
    score = np.where(seen, q @ k.transpose(0, 1, 3, 2) / math.sqrt(width // heads), -np.inf)
    share = np.exp(score - score.max(-1, keepdims=True))
    y = share / share.sum(-1, keepdims=True) @ v
    y = y.transpose(0, 2, 1, 3).reshape(rows, steps, width)
    y = np.where((np.arange(steps) < model.lengths[:, None])[:, :, None], y, 0)
    return y @ model.param(at, "output") + model.param(at, "output_bias")


def run_layers(model, layers, path, x):
    """path: the number of the list's layer in the names of its parameters, before its own."""
    for i, layer in enumerate(layers):
        kind, at = layer["type"], f"{path}{i}"
        if kind in ("dense", "ntk_dense"):
            x = x @ model.param(at, "weight") + (model.param(at, "bias") if layer["bias"] else 0)
        elif kind in ("batch_norm", "layer_norm"):
            batch = kind == "batch_norm"
            mean = model.param(at, "running_mean") if batch else x.mean(-1, keepdims=True)
            var = model.param(at, "running_var") if batch else x.var(-1, keepdims=True)
            x = (x - mean) / np.sqrt(var + layer["epsilon"])
            x = x * model.param(at, "scale") + model.param(at, "shift")
        elif kind == "embed_numbers":
            x = embed_numbers(model, at, x)
        elif kind == "views":
            # rows x views x width: the first layer inside makes them
            x = run_layers(model, layer["layers"], f"{at}.layers.", x[:, None, :])
            x = x.reshape(len(x), -1)
        elif kind == "view_scale":
            x = x * model.param(at, "weight") + (model.param(at, "bias") if layer["bias"] else 0)
        elif kind == "view_dense":
            x = x.reshape(len(x), layer["views"], -1)
            x = np.einsum("rki,kio->rko", x, model.param(at, "weight")) + model.param(at, "bias")
            if layers is not model.layers or i + 1 < len(layers):
                x = x.reshape(len(x), -1)
            elif model.head["task"] == "regression":
                x = x.mean(1)
            else:
                x = x - np.logaddexp.reduce(x, 2, keepdims=True)
                x = np.logaddexp.reduce(x, 1) - math.log(layer["views"])
        elif kind == "residual":
            inside = run_layers(model, layer["layers"], f"{at}.layers.", x)
            x = inside + (x if inside.shape == x.shape else x @ model.param(at, "weight"))
        elif kind == "scale":
            x = x * model.param(at, "weight")
        elif kind == "blend":
            f = ACTIVATIONS[layer["activation"]](x, {"slope": 0.01, "alpha": 1})
            x = x + model.param(at, "weight") * (f - x)
        elif kind in ("lstm", "gru"):
            ways = ["", "reverse_"] if layer["bidirectional"] else [""]
            x = np.concatenate([recurrent(model, at, name, x, layer["units"], kind == "gru")
                                for name in ways], axis=-1)
        elif kind == "pool":
            x = pool(model, at, layer["kind"], x)
        elif kind == "position":
            x = x + (model.param(at, "weight") if layer["kind"] == "learned" else sines(*x.shape[1:]))
        elif kind == "conv1d":
            x = conv1d(model, at, layer, x)
        elif kind == "rocket":
            x = rocket(model, at, layer, x)
        elif kind == "class_token":
            token = np.broadcast_to(model.param(at, "weight"), (len(x), 1, x.shape[2]))
            x, model.lengths = np.concatenate([token, x], axis=1), model.lengths + 1
        elif kind == "attention":
            x = attention(model, at, layer, x)
        elif kind in ACTIVATIONS:
            x = ACTIVATIONS[kind](x, layer)
        else:
            raise SystemExit(f"the layer \"{kind}\" is not known here")
    return x


def calibrate(tensors, y):
    if "calibration.range" in tensors:
        y = np.clip(y, *tensors["calibration.range"])
    if "calibration.scale" in tensors:
        y = tensors["calibration.scale"] * np.log(np.maximum(y, 1e-304)) \
            + tensors["calibration.shift"]
        y = np.exp(y - y.max(1, keepdims=True))
        y /= y.sum(1, keepdims=True)
    return y


def decode_target(model, z):
    for name in ("target", "target.log", "target.cbrt", "target.quantile"):
        if model.has(name):
            center, width = model.encoder(name)
            z = z * width + center
            if name == "target.log":
                return np.exp(np.clip(z, -700, 700))
            if name == "target.cbrt":
                return z ** 3
            if name == "target.quantile":
                knots = model.encoder("target.knots")
                share = np.vectorize(math.erfc, otypes=[float])(-z / math.sqrt(2)) / 2
                return np.interp(share * len(knots) - 0.5, np.arange(len(knots)), knots)
            return z
    raise SystemExit("the target's transform is not known here")


def windows_of(model, rows):
    """First row and length of each window, and the group that it is of."""
    w, name = model.head["windows"], model.names[model.head["windows"]["group"]]
    groups = [len(list(same)) for _, same in itertools.groupby(row[name] for row in rows)]
    if w.get("carry_state"):  # windows that go on are one window
        w["window"] = w["stride"] = max(groups)
    begin, windows = 0, []
    for group, count in enumerate(groups):
        most = 1 + max(0, -(-(count - w["window"]) // w["stride"]))
        windows += [(begin + k * w["stride"], min(w["window"], count - k * w["stride"]), group)
                    for k in range(most)]
        begin += count
    return np.array(windows).T


def logits(model, rows):
    """[lines][outputs]: a line for each row, window or group."""
    x = first_stage(model, rows, *read_cells(model, rows))
    if "windows" not in model.head:
        return run_layers(model, model.layers, "", x)
    first, model.lengths, group = windows_of(model, rows)
    lengths, label, steps = model.lengths, model.head["windows"]["label"], np.arange(model.head["windows"]["window"])
    there = steps < lengths[:, None]
    at = first[:, None] + np.minimum(steps, lengths[:, None] - 1)
    y = run_layers(model, model.layers, "", np.where(there[:, :, None], x[at], 0))
    if label == "last":
        return y
    line = at[there] if label == "row" else group  # the mean of all windows that it is in
    y = y[there] if label == "row" else y
    total = np.zeros((line.max() + 1, y.shape[1]))
    np.add.at(total, line, y)
    return total / np.bincount(line)[:, None]


def answer(model, rows):
    """Probabilities or values [lines][outputs]: the weighted mean of all members; and the values of
    each [members][lines][outputs]."""
    mean, each = 0, []
    for member, weight in enumerate(model.weights / model.weights.sum()):
        model.choose(member)
        y = logits(model, rows)
        if model.head["task"] == "regression":
            y = np.sort(decode_target(model, y), axis=1)
        else:
            y = np.exp(y - y.max(1, keepdims=True))
            y /= y.sum(1, keepdims=True)
        mean = mean + weight * y
        each.append(y)
    return calibrate(model.tensors, mean), each


def encode_target(model, y):
    if model.has("target"):
        return (y - model.encoder("target")[0]) / model.encoder("target")[1]
    for name, of in (("target.log", np.log), ("target.cbrt", np.cbrt)):
        if model.has(name):
            return (of(y) - model.encoder(name)[0]) / model.encoder(name)[1]
    knots, (center, width) = model.encoder("target.knots"), model.encoder("target.quantile")
    first, last = np.searchsorted(knots, y), np.searchsorted(knots, y, "right")
    place = np.where(last > first, (first + last - 1) / 2, np.interp(y, knots, np.arange(len(knots))))
    normal = np.vectorize(statistics.NormalDist().inv_cdf, otypes=[float])
    return (normal((place + 0.5) / len(knots)) - center) / width


def interval(model, y, each):
    """The ends [2][lines][1]."""
    rule, _, reach, floor, folds = model.tensors["intervals"]
    model.choose(0)
    if rule == 2:
        z = encode_target(model, y)
        ends = [decode_target(model, z + side * reach) for side in (-1, 1)]
    else:
        spread, weights = 0, np.reshape(model.weights / model.weights.sum(), (-1, 1, 1))
        for fold in range(int(folds) if rule == 3 else 0):
            w, v = weights[fold::int(folds)], np.array(each[fold::int(folds)])
            w = w / w.sum()
            spread = spread + np.sqrt((w * (v - (w * v).sum(0)) ** 2).sum(0)) / folds
        wide = reach * (spread + floor if rule == 3 else 1)
        ends = [y - wide, y + wide]
    return [np.clip(end, *model.tensors.get("calibration.range", (-np.inf, np.inf))) for end in ends]


def set_of(model, row, best):
    return "|".join(re.sub(r"([|\\])", r"\\\1", label) for i, label in enumerate(model.labels)
                    if i == best or row[i] >= model.tensors["sets"][1])


def value_format(model):
    """9 digits, and 17 where the steps of 9 are above a ten thousandth of the target's spread."""
    model.choose(int(np.argmin(model.encoders)))
    low, center, high = (float(decode_target(model, np.array([z]))[0]) for z in (-1.0, 0.0, 1.0))
    step = 10 ** (math.floor(math.log10(abs(center))) - 8) if center else 0
    return ".17g" if 1e4 * step > (high - low) / 2 else ".9g"


def main(path, data):
    model = Model(path)
    head = model.head
    with open(data, newline="", encoding={"utf-8": "utf-8-sig"}.get(head["encoding"],
                                                                   head["encoding"])) as f:
        quote, text = head.get("quote", "strict"), f.read()
        if quote == "backslash":  # \" and \\ inside quotes
            text = re.sub(r'"(?:[^"\\]|\\.|"")*"', lambda cell: re.sub(
                r'\\(["\\])', lambda m: '""' if m[1] == '"' else "\\", cell[0]), text, flags=re.S)
        rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=head["delimiter"], strict=quote == "strict",
                                   quoting=csv.QUOTE_NONE if quote == "none" else csv.QUOTE_MINIMAL))
    y, each = answer(model, rows)
    out = csv.writer(sys.stdout, lineterminator="\n")
    if head["task"] == "regression":
        told, form = "intervals" in model.tensors, value_format(model)
        names = ["prediction"]
        if model.has("target.quantiles"):
            names = [f"q{q:.9g}" for q in model.encoder("target.quantiles")]
        out.writerow(names + ["low", "high"] * told)
        columns = [y] + (interval(model, y, each) if told else [])
        out.writerows([[format(v, form) for v in line] for line in np.concatenate(columns, axis=1)])
        return
    sets = "sets" in model.tensors
    out.writerow(["prediction"] + ["probability_" + label for label in model.labels] + ["set"] * sets)
    for row in y:
        best = int(row[1] >= model.threshold) if len(row) == 2 \
            else (np.log(np.maximum(row, 1e-304)) + model.decision).argmax()
        out.writerow([model.labels[best]] + [f"{v:.9g}" for v in row]
                     + ([set_of(model, row, best)] if sets else []))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    main(sys.argv[1], sys.argv[2])
