#!/usr/bin/env python3
"""Fills in what PostgreSQL 15 answers: golden/*.txt, one case a line, `expression | result`.

    PGHOST=... PGPORT=... ./generate.py [FILE ...]

Each line's expression is asked for again and its result replaced (`ERROR state: message` for an error); a new case is a new
line with nothing behind the expression. Lines that begin with `--` stay. The expressions are plain SQL in the few forms that
`golden.rs` reads. numeric_random.txt, number_patterns.txt, date_patterns.txt and expressions.txt are
made here, from fixed seeds.
"""
import os
import pathlib
import random
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
OPTIONS = "-c timezone=UTC -c datestyle=iso,mdy -c intervalstyle=postgres"


def ask(expressions):
    """The results, in order."""
    script = "".join(f"select {expression};\n\\echo @@\n" for expression in expressions)
    run = subprocess.run(
        ["psql", "-X", "-q", "-A", "-t", "-v", "VERBOSITY=verbose", "-P", "null=NULL", "-f", "-"],
        input=script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "PGOPTIONS": OPTIONS})
    results = []
    for answer in run.stdout.split("@@\n")[:-1]:
        error = re.search(r"ERROR:\s+(\w{5}): (.*)", answer)
        results.append(f"ERROR {error[1]}: {error[2]}" if error else answer.rstrip("\n"))
    assert len(results) == len(expressions), run.stdout[-2000:]
    return results


def fill(path):
    lines = path.read_text().splitlines()
    cases = [line.rsplit(" | ", 1)[0].rstrip(" |") for line in lines if line and not line.startswith("--")]
    results = iter(ask(cases))
    out = []
    for line in lines:
        if line and not line.startswith("--"):
            line = f"{line.rsplit(' | ', 1)[0].rstrip(' |')} | {next(results)}"
        out.append(line)
    path.write_text("\n".join(out) + "\n")


def random_numeric(path):
    """Random operands of all sizes and scales for numeric's operations."""
    dice = random.Random(15)

    def operand(digits=40, decimals=20):
        whole = dice.choice(["0", str(dice.randrange(10 ** dice.randint(1, digits)))])
        scale = dice.choice([0, 0, 1, 2, dice.randint(0, decimals)])
        fraction = "".join(dice.choice("0123456789") for _ in range(scale))
        if dice.random() < 0.1:
            fraction = "0" * len(fraction)
        sign = dice.choice(["", "", "-"])
        return f"{sign}{whole}{'.' + fraction if fraction else ''}"

    cases = []
    for name in ["numeric_add", "numeric_sub", "numeric_mul", "numeric_div", "numeric_mod", "numeric_div_trunc"]:
        for size in [4, 9, 18, 40]:
            cases += [f"{name}('{operand(size)}'::numeric, '{operand(size)}'::numeric)" for _ in range(40)]
    for name in ["sqrt", "ln", "abs", "ceil", "floor", "trim_scale", "min_scale", "numeric_uminus"]:
        for size in [3, 12, 30]:
            cases += [f"{name}('{operand(size)}'::numeric)" for _ in range(25)]
    cases += [f"exp('{operand(2, 8)}'::numeric)" for _ in range(50)]
    cases += [f"power('{operand(5, 6)}'::numeric, '{operand(1, 4)}'::numeric)" for _ in range(80)]
    cases += [f"power('{operand(5, 6)}'::numeric, '{dice.randint(-30, 30)}'::numeric)" for _ in range(60)]
    cases += [f"log('{operand(5, 6)}'::numeric, '{operand(12, 6)}'::numeric)" for _ in range(60)]
    for name in ["round", "trunc"]:
        cases += [f"{name}('{operand(20)}'::numeric, '{dice.randint(-8, 12)}'::int4)" for _ in range(60)]
    cases += [f"float8('{operand(25)}'::numeric)" for _ in range(30)]
    cases += [f"\"numeric\"('{dice.uniform(-1, 1) * 10 ** dice.randint(-30, 30)!r}'::float8)" for _ in range(40)]
    cases += [f"'{operand(8, 8)}'::numeric({dice.randint(1, 12)},{dice.randint(-4, 8)})" for _ in range(80)]
    cases += [f"numeric_cmp('{operand(9, 4)}'::numeric, '{operand(9, 4)}'::numeric)" for _ in range(40)]
    path.write_text("\n".join(cases) + "\n")


def random_number_patterns(path):
    """Random templates of numbers: most of them sensible, some of patterns thrown together."""
    dice = random.Random(31)

    def sensible():
        out = dice.choice(["", "", "", "FM", "S", "SG", "MI", "PL", "L", "FML", "FMS", "B"])
        out += "".join(dice.choice(["9", "9", "9", "0", "0", ",", "G"]) for _ in range(dice.randint(0, 7)))
        if dice.random() < 0.6:
            out += dice.choice([".", "D"]) + "".join(dice.choice("990") for _ in range(dice.randint(0, 5)))
        elif dice.random() < 0.2:
            out += "V" + "9" * dice.randint(0, 4)
        return out + dice.choice(["", "", "", "", "S", "MI", "PL", "SG", "PR", "TH", "th", "EEEE", "L", " x", '"a\\"b"'])

    def thrown():
        parts = ["9", "9", "9", "0", "0", ".", ",", "D", "G", "S", "MI", "PL", "SG", "PR", "FM", "TH", "th", "V", "RN", "rn",
                 "EEEE", "B", "C", "SP", "L", "x", "-", '"q"', "é", " ", "d", "g", "fm", "mi", "pr"]
        return "".join(dice.choice(parts) for _ in range(dice.randint(1, 8)))

    def number(digits):
        whole = dice.choice(["0", "0", str(dice.randrange(10 ** dice.randint(1, digits)))])
        fraction = "".join(dice.choice("0123456789") for _ in range(dice.choice([0, 0, 1, 2, 3, 6])))
        if dice.random() < 0.15:
            fraction = "0" * len(fraction)
        return dice.choice(["", "", "-"]) + whole + ("." + fraction if fraction else "")

    def operand():
        kind = dice.choice(["numeric"] * 4 + ["int4", "int4", "int8", "float8", "float8", "float4"])
        if kind == "int4":
            return f"'{dice.choice(['', '-'])}{dice.randrange(10 ** dice.randint(1, 9))}'::int4"
        if kind == "int8":
            return f"'{dice.choice(['', '-'])}{dice.randrange(10 ** dice.randint(1, 18))}'::int8"
        special = dice.random() < 0.05
        text = dice.choice(["NaN", "Infinity", "-Infinity"]) if special else number(7 if kind == "float4" else 9)
        return f"'{text}'::{kind}"

    def quoted(text):
        return "'" + text.replace("'", "''") + "'::text"

    def input():
        text = number(6)
        if dice.random() < 0.3:
            place = dice.randint(0, len(text))
            text = text[:place] + dice.choice([",", " ", "x", "-", "+", "é", "<", "$"]) + text[place:]
        if dice.random() < 0.2:
            text = text.lstrip("-") + dice.choice(["-", "+", "th", " ", ">"])
        return dice.choice(["", "", "", " "]) + text

    cases = [f"to_char({operand()}, {quoted(sensible())})" for _ in range(1500)]
    cases += [f"to_char({operand()}, {quoted(thrown())})" for _ in range(700)]
    cases += [f"to_char('{dice.choice([dice.randint(-5, 50), dice.randint(0, 4100)])}'::int4, '{dice.choice(['RN', 'rn', 'FMRN', 'FMrn', 'RNth', 'SRN', 'SGRN'])}'::text)" for _ in range(60)]
    cases += [f"to_number({quoted(input())}, {quoted(sensible())})" for _ in range(2500)]
    cases += [f"to_number({quoted(input())}, {quoted(thrown())})" for _ in range(400)]
    path.write_text("\n".join(cases) + "\n")


def random_date_patterns(path):
    """Texts made by a template, read by it or another; and templates and texts thrown together."""
    dice = random.Random(47)
    shapes = ["YYYY-MM-DD", "DD.MM.YYYY", "YYYYMMDD", "Mon DD, YYYY", "DD Month YYYY", "Dy DD-Mon-YY", "YYYY-DDD", "IYYY-IW-ID",
              "IYYYIDDD", "YYYY WW", "J", "Y,YYY MM", "CC YY MM DD", "DD RM YYYY", "YYYY BC MM", "YYYY W MM", "Q YYYY", "YYY/MM/DD",
              "HH24:MI:SS", "HH12:MI:SS AM", "HH:MI p.m.", "HH24MISS", "SSSSS", "MI:SS.MS", "SS.US", "SS.FF3", "HH24:MI TZH:TZM",
              "HH24 TZH", "DDth Month", "FMDDth FMMonth YYYY", "FXYYYY-MM-DD", "FX DD Mon", "YYYY\"x\"MM", "Day", "TMMonth YYYY"]
    keywords = ["YYYY", "YYY", "YY", "Y", "MM", "DD", "HH24", "HH12", "HH", "MI", "SS", "MS", "US", "FF1", "FF4", "SSSS", "AM", "B.C.",
                "AD", "CC", "DDD", "D", "ID", "IDDD", "IW", "IYYY", "IY", "J", "Mon", "MONTH", "month", "Dy", "day", "Q", "RM", "rm",
                "TZH", "TZM", "TZ", "OF", "W", "WW", "Y,YYY", "FX", "FM", "TM", "th", "-", "/", " ", "  ", ":", ".", "x", "T",
                '"q"', "\\", "9"]

    def moment():
        return (f"timestamp '{dice.randint(1, 2999):04}-{dice.randint(1, 12):02}-{dice.randint(1, 28):02} "
                f"{dice.randint(0, 23):02}:{dice.randint(0, 59):02}:{dice.randint(0, 59):02}.{dice.randint(0, 999999):06}'")

    def quoted(text):
        return "'" + text.replace("'", "''") + "'"

    def template():
        if dice.random() < 0.75:
            return dice.choice(["", "FM"]) * (dice.random() < 0.1) + " ".join(dice.choice(shapes) for _ in range(dice.choice([1, 1, 2])))
        return "".join(dice.choice(keywords) for _ in range(dice.randint(1, 7)))

    def disturbed(text):
        for _ in range(dice.choice([0, 0, 0, 1, 1, 2])):
            place = dice.randint(0, len(text))
            text = text[:place] + dice.choice([" ", "-", "x", "1", "99", "", "/", ":"]) + text[place + dice.randint(0, 1):]
        return text

    templates = [template() for _ in range(1800)]
    made = ask([f"to_char({moment()}, {quoted(t)})" for t in templates])
    cases = []
    for written, text in zip(templates, made):
        if text.startswith("ERROR"):
            text = dice.choice(["2024-02-30", "12", "1999 12 31", "January", "noon"])
        read = written if dice.random() < 0.9 else template()
        function = dice.choice(["to_date", "to_timestamp"])
        cases.append(f"{function}({quoted(disturbed(text))}::text, {quoted(read)}::text)")
    cases += [f"to_char({moment().replace('timestamp ', '')}::timestamp, {quoted(template())}::text)" for _ in range(400)]
    path.write_text("\n".join(cases) + "\n")


def random_expressions(path):
    """Regular expressions of few letters, so that they match in many ways."""
    dice = random.Random(59)

    def part(depth, solid):
        kind = dice.random()
        if depth > 0 and kind < 0.35:
            inner = "|".join(branch(depth - 1, solid) for _ in range(dice.choice([1, 1, 2, 2, 3])))
            return dice.choice(["(", "(", "(?:"]) + inner + ")"
        return dice.choice(["a", "a", "b", "c", ".", "[ab]", "[^a]", "ab", "^", "$", "x"] if kind < 0.5 else ["a", "b", "ab", "."])

    def branch(depth, solid):
        """One alternative; a solid one is never empty, so that it can be repeated."""
        out = ""
        for _ in range(dice.randint(1, 3)):
            quantifier = dice.choice(["", "", "", "*", "+", "?", "*?", "+?", "??", "{1,2}", "{0,2}?"])
            if solid:
                quantifier = dice.choice(["", "", "", "+", "+?", "{1,2}"])
            atom = part(depth, solid or quantifier != "")
            out += atom if atom in ("^", "$", "ab") else atom + quantifier
        return out if not solid or out.strip("^$") else "a"

    def text():
        return "".join(dice.choice("aaabbc") for _ in range(dice.randint(0, 8)))

    cases = []
    for _ in range(2500):
        pattern = "|".join(branch(2, False) for _ in range(dice.choice([1, 1, 1, 2])))
        name = dice.choice(["regexp_match", "regexp_match", "substring", "regexp_replace", "regexp_split_to_array", "array"])
        if name == "regexp_replace":
            cases.append(f"regexp_replace('{text()}'::text, '{pattern}'::text, '<\\&,\\1>'::text, 'g'::text)")
        elif name == "array":
            cases.append(f"regexp_count('{text()}'::text, '{pattern}'::text)")
        else:
            cases.append(f"{name}('{text()}'::text, '{pattern}'::text)")
    path.write_text("\n".join(cases) + "\n")


if __name__ == "__main__":
    paths = [pathlib.Path(name).resolve() for name in sys.argv[1:]] or sorted(HERE.glob("*.txt"))
    for path in paths:
        if path.name == "numeric_random.txt":
            random_numeric(path)
        if path.name == "number_patterns.txt":
            random_number_patterns(path)
        if path.name == "date_patterns.txt":
            random_date_patterns(path)
        if path.name == "expressions.txt":
            random_expressions(path)
        fill(path)
